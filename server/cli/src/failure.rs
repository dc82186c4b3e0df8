//! Why a command ends without success: a sentence for the person, and the exit status.

use std::fmt;

/// A command's failure.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    /// The exit status.
    pub(crate) status: u8,
}

impl Failure {
    /// It was asked rightly and could not be done: status 1.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), status: 1 }
    }

    /// What was asked for, or how the instance is set up, can't be right: status 2, as for a flag
    /// that does not exist.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), status: 2 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// Errors whose own text is a sentence for the operator.
macro_rules! from {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(capitalised(&error.to_string()))
            }
        }
    )*};
}

from! {
    restante_app::keys::CheckError,
    restante_app::keys::KeysChangeError,
    restante_app::keys::MasterKeyError,
    restante_core::problem::Problem,
    restante_store::StoreError,
    restante_store::backup::BackupError,
    restante_store::copy::CopyError,
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let mut sentence: String =
        characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect());
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
