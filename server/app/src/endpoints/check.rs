//! The rules for what an endpoint may be. They are pure, and each fault names its field and says what
//! would be right, so that a person mends all of them at once.

use restante_core::catalogue::{Catalogue, CheckedSecret, Provider, Scheme};
use restante_core::limits::{NAME_CHARS_MAX, OPTIONS_BYTES_MAX, SECRET_BYTES_MAX, SECRETS_PER_ENDPOINT_MAX};
use restante_core::problem::FieldError;
use restante_core::secret::Secret;
use serde_json::{Map, Value};

use super::Notice;

/// Names that are offered when a provider is not known.
const NEAR_MAX: usize = 3;
/// How alike a name has to be to be offered, from 0 to 1 (Jaro and Winkler).
const NEAR_MIN: f64 = 0.8;

pub(super) type Check<T> = Result<T, Vec<FieldError>>;

pub(super) fn fault(pointer: impl Into<String>, detail: impl Into<String>) -> Vec<FieldError> {
    vec![FieldError { pointer: pointer.into(), detail: detail.into() }]
}

/// A name that a person gives.
pub(crate) fn name(name: &str) -> Check<()> {
    let chars = name.chars().count();
    if chars > NAME_CHARS_MAX {
        return Err(fault(
            "/name",
            format!("A name has at most {NAME_CHARS_MAX} characters; this one has {chars}."),
        ));
    }
    if name.trim().is_empty() {
        return Err(fault("/name", "A name needs at least one visible character."));
    }
    if name.chars().any(char::is_control) {
        return Err(fault("/name", "A name is one line without control characters."));
    }
    Ok(())
}

/// The provider of that slug.
pub(super) fn provider(slug: &str) -> Check<&'static Provider> {
    let catalogue = Catalogue::builtin();
    catalogue.get(slug).ok_or_else(|| {
        let near = near(slug, catalogue.all().map(|provider| provider.slug.as_str()));
        let hint = if near.is_empty() {
            "GET /v1/providers lists those that are; `custom` describes any other sender.".to_owned()
        } else {
            format!("Did you mean {}?", near.join(" or "))
        };
        fault("/provider", format!("There is no such provider in the catalogue. {hint}"))
    })
}

/// The names that are most alike.
fn near<'a>(slug: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let slug: String = slug.trim().to_lowercase().chars().take(NAME_CHARS_MAX).collect();
    let mut alike: Vec<(f64, &str)> = known
        .map(|name| {
            let contains = slug.len() >= 3 && (name.contains(&slug) || slug.contains(name));
            (if contains { 1.0 } else { strsim::jaro_winkler(&slug, name) }, name)
        })
        .filter(|(likeness, _)| *likeness >= NEAR_MIN)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.into_iter().take(NEAR_MAX).map(|(_, name)| name).collect()
}

/// Options, secret ones opened, as the scheme they make.
pub(super) fn options(provider: &'static Provider, options: &Map<String, Value>) -> Check<Scheme> {
    let bytes = serde_json::to_vec(options).map_or(0, |text| text.len());
    if bytes > OPTIONS_BYTES_MAX {
        return Err(fault(
            "/options",
            format!("Options have at most {OPTIONS_BYTES_MAX} bytes; these have {bytes}."),
        ));
    }
    Scheme::compile(provider, options).map_err(within_options)
}

/// A patch of options, as far as it removes some.
pub(super) fn removals(provider: &Provider, patch: &Map<String, Value>) -> Check<()> {
    Scheme::check_removals(provider, patch).map_err(within_options)
}

fn within_options(errors: Vec<FieldError>) -> Vec<FieldError> {
    let at = |error: FieldError| FieldError {
        pointer: format!("/options{}", error.pointer),
        detail: error.detail,
    };
    errors.into_iter().map(at).collect()
}

/// A secret as it was pasted, at `pointer`.
pub(super) fn secret(
    scheme: &Scheme,
    pasted: &Secret<String>,
    pointer: &str,
) -> Check<(CheckedSecret, Vec<Notice>)> {
    let pasted = pasted.expose();
    if pasted.trim().is_empty() {
        return Err(fault(pointer, "The secret is empty. Paste it as the provider shows it."));
    }
    if pasted.len() > SECRET_BYTES_MAX {
        return Err(fault(pointer, format!("A secret has at most {SECRET_BYTES_MAX} bytes.")));
    }
    let checked = scheme.check_secret(pasted).map_err(|detail| fault(pointer, detail))?;
    scheme.key(checked.secret.expose()).map_err(|detail| fault(pointer, detail))?;
    let notices = checked
        .notices
        .iter()
        .map(|detail| Notice { pointer: pointer.to_owned(), detail: detail.clone() })
        .collect();
    Ok((checked, notices))
}

/// The number of secrets of an endpoint.
pub(super) fn secrets_count(provider: &Provider, count: usize) -> Check<()> {
    if count > SECRETS_PER_ENDPOINT_MAX {
        return Err(fault(
            "/secrets",
            format!(
                "An endpoint holds at most {SECRETS_PER_ENDPOINT_MAX} secrets at once; these are {count}."
            ),
        ));
    }
    if count == 0 {
        let (title, example) = provider.secret_hint();
        return Err(fault(
            "/secrets",
            format!(
                "The endpoint needs at least one secret, or nothing could be verified. For {} it is the {title}, \
                 such as {example}.",
                provider.title
            ),
        ));
    }
    Ok(())
}

/// The largest body of an endpoint.
pub(super) fn max_body_bytes(bytes: Option<u64>, ceiling: u64) -> Check<()> {
    match bytes {
        Some(bytes) if !(1..=ceiling).contains(&bytes) => {
            Err(fault("/max_body_bytes", format!("The largest body is 1 to {ceiling} bytes on this server.")))
        }
        _ => Ok(()),
    }
}

/// All faults together; the value when there is none.
pub(super) fn both<A, B>(a: Check<A>, b: Check<B>) -> Check<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut a), Err(b)) => {
            a.extend(b);
            Err(a)
        }
        (Err(errors), _) | (_, Err(errors)) => Err(errors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_provider_is_answered_with_what_may_be_meant() {
        let known = ["custom", "github", "shopify", "standard-webhooks", "stripe"];
        let near = |slug| near(slug, known.into_iter());
        assert_eq!(near("stripes")[0], "stripe");
        assert_eq!(near("GitHub")[0], "github");
        assert_eq!(near("webhooks"), ["standard-webhooks"]);
        assert!(near("").is_empty() && near("zzzz").is_empty());
        assert!(near(&"x".repeat(1 << 20)).is_empty());
    }

    #[test]
    fn names_are_one_line_of_120_characters() {
        for good in ["a", "Stripe live", &"ß".repeat(120)] {
            assert_eq!(name(good), Ok(()));
        }
        for bad in ["", "   ", "a\nb", "a\0", &"a".repeat(121)] {
            assert_eq!(name(bad).unwrap_err()[0].pointer, "/name");
        }
    }

    #[test]
    fn a_body_has_at_least_one_byte_and_at_most_the_operators_ceiling() {
        for good in [None, Some(1), Some(100)] {
            assert_eq!(max_body_bytes(good, 100), Ok(()));
        }
        for bad in [Some(0), Some(101), Some(u64::MAX)] {
            assert!(max_body_bytes(bad, 100).is_err());
        }
    }
}
