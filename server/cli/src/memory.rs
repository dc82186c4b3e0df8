//! Makes the C library give freed memory back to the system. By itself it takes a large block from the
//! system, but once such a block was freed it serves blocks up to that size (at most 32 MiB) from its own heaps
//! (mallopt(3), `M_MMAP_THRESHOLD`), where the holes that large bodies leave stay with the process.

/// Blocks from this size on are mapped one by one, and go back when they are freed. It is what the
/// library begins with; to set it is what keeps it there.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_FROM_BYTES: libc::c_int = 128 * 1024;

/// To be called once, before there are threads.
pub(crate) fn give_back_what_is_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "the C library has no other door to its allocator")]
    // SAFETY: it takes two numbers, keeps the second, and knows nothing of our memory. Whether it could
    // is no matter: then everything is as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn resident_mib() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
    }

    #[test]
    fn what_bodies_took_goes_back_to_the_system() {
        give_back_what_is_freed();
        // One that is freed would teach the library to keep blocks of this size.
        drop(std::hint::black_box(vec![1_u8; 16 * MIB]));
        let before = resident_mib();
        // A small block that stays behind each large one keeps a heap from shrinking.
        let (large, small): (Vec<_>, Vec<_>) =
            (0..100).map(|_| (vec![1_u8; MIB], Box::new([1_u8; 64]))).unzip();
        assert!(resident_mib() >= before + 95);
        drop(std::hint::black_box(large));
        assert!(resident_mib() < before + 40, "{} MiB before, {} after", before, resident_mib());
        drop(std::hint::black_box(small));
    }
}
