//! Chance that falls the same way each time for the same seed, so that the demo's week has the same
//! course on every machine. It decides amounts, names and ids of samples; secrets come from the system.

/// A row of numbers (SplitMix64, by Guy Steele and others, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, and without, the given one.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or(0) % end.max(1)
    }

    /// Whether one chance of so many came true.
    pub(super) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    /// One of them; `None` of none.
    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// So many characters of an alphabet.
    pub(super) fn text(&mut self, alphabet: &str, characters: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..characters).filter_map(|_| self.pick(&alphabet).copied()).collect()
    }

    /// Lower-case hexadecimal digits.
    pub(super) fn hex(&mut self, characters: usize) -> String {
        self.text("0123456789abcdef", characters)
    }
}
