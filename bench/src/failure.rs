//! What goes wrong in a benchmark is told to the person who started it, and ends the run: a boxed error with a
//! sentence is enough.

/// The result of everything here that can fail.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Says what was being done when an error came.
pub(crate) trait While<T> {
    /// `text` completes the sentence "could not …".
    fn could_not(self, text: impl AsRef<str>) -> Result<T>;
}

impl<T, E: std::fmt::Display> While<T> for std::result::Result<T, E> {
    fn could_not(self, text: impl AsRef<str>) -> Result<T> {
        self.map_err(|error| format!("could not {}: {error}", text.as_ref()).into())
    }
}
