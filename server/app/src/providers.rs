//! The catalogue as clients look at it: which senders are known, and what to paste where.

use restante_core::catalogue::{Catalogue, Provider};
use restante_core::problem::Problem;

/// The provider of that name.
///
/// # Errors
/// Not found.
pub fn provider(name: &str) -> Result<&'static Provider, Problem> {
    Catalogue::builtin().get(name).ok_or_else(|| {
        Problem::new(
            restante_core::problem::Code::NotFound,
            "There is no such provider in the catalogue. GET /v1/providers lists those that are.",
        )
    })
}

/// Providers by name, at most `limit`, from the one at `offset` on.
pub fn providers(offset: usize, limit: usize) -> Vec<&'static Provider> {
    let mut all: Vec<&Provider> = Catalogue::builtin().all().collect();
    all.sort_by(|a, b| a.slug.cmp(&b.slug));
    all.into_iter().skip(offset).take(limit).collect()
}
