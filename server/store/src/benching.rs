//! What a benchmark compares group commit with: a commit of one record at a time, and no commit at
//! all. Compiled only under the feature `bench`; a program that is given out can't be told to lie.

/// How deliveries are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commits {
    /// In groups: the product.
    Grouped,
    /// One transaction a request.
    Single,
    /// Not at all: what everything but the commit costs.
    Nothing,
}

/// How deliveries are committed in this process.
#[cfg(not(feature = "bench"))]
pub(crate) const fn commits() -> Commits {
    Commits::Grouped
}

/// How deliveries are committed in this process, by `RESTANTE_BENCH_COMMIT`.
#[cfg(feature = "bench")]
pub(crate) fn commits() -> Commits {
    static CHOSEN: std::sync::LazyLock<Commits> =
        std::sync::LazyLock::new(|| match std::env::var("RESTANTE_BENCH_COMMIT").as_deref() {
            Ok("single") => Commits::Single,
            Ok("none") => Commits::Nothing,
            _ => Commits::Grouped,
        });
    *CHOSEN
}
