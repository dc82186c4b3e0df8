//! Where randomness comes from: the operating system, or in tests a seed.

/// A source of random bytes fit for keys.
pub trait Random: Send + Sync {
    /// Fills a buffer.
    fn fill(&self, buffer: &mut [u8]);
}

impl dyn Random + '_ {
    /// An array of random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut buffer = [0; N];
        self.fill(&mut buffer);
        buffer
    }
}

/// The operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) {
        if getrandom::fill(buffer).is_err() {
            // Without randomness neither keys nor nonces are safe, and nothing can go on.
            std::process::abort();
        }
    }
}
