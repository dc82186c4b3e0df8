//! Values that must never be printed.

use std::fmt;

use zeroize::Zeroize;

/// A secret value: no `Display`, a `Debug` that shows nothing, wiped from memory when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes a value into custody.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Each call is a place to look at when asking where a secret may leak.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
