//! How a call shows who asks. The results are secrets: they stand in headers and nowhere else.

use std::collections::BTreeMap;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

use super::recipe::Auth;
use super::template::{Place, Values, fill, no_item};
use crate::secret::Secret;
use crate::time::Timestamp;

/// How long a JWT counts; GitHub takes at most ten minutes, less what clocks are apart.
const JWT_SECONDS: i64 = 540;
/// What a JWT is dated back by, for a clock that runs ahead.
const JWT_BACK_SECONDS: i64 = 60;

/// The header that shows who asks; `None` where nothing does.
///
/// # Errors
/// A sentence that says what is wrong with the credentials, without them.
pub(super) fn header(
    auth: &Auth,
    named: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<Option<(String, Secret<String>)>, String> {
    let values = Values { named, item: &no_item };
    let filled = |template: &str| {
        fill(template, &values, Place::Header)?.ok_or_else(|| "A credential is missing.".to_owned())
    };
    let plain = |template: &str| {
        fill(template, &values, Place::Plain)?.ok_or_else(|| "A credential is missing.".to_owned())
    };
    let authorization = |value: String| Some(("authorization".to_owned(), Secret::new(value)));
    Ok(match auth {
        Auth::None => None,
        Auth::Bearer(token) => authorization(format!("Bearer {}", filled(token)?)),
        Auth::Basic(user, password) => {
            let pair = format!("{}:{}", plain(user)?, plain(password)?);
            authorization(format!("Basic {}", STANDARD.encode(pair)))
        }
        Auth::Header(name, value) => Some((name.to_ascii_lowercase(), Secret::new(filled(value)?))),
        Auth::JwtRs256 { issuer, key } => {
            authorization(format!("Bearer {}", jwt(&plain(issuer)?, &plain(key)?, now)?))
        }
    })
}

fn jwt(issuer: &str, pem: &str, now: Timestamp) -> Result<String, String> {
    let wrong =
        || "The private key can't be read. Paste the whole file, from -----BEGIN to -----END.".to_owned();
    let inner: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(inner.replace([' ', '\r', '\t'], "")).map_err(|_| wrong())?;
    let key = RsaKeyPair::from_der(&der).or_else(|_| RsaKeyPair::from_pkcs8(&der)).map_err(|_| wrong())?;
    let claims = json!({
        "iat": now.seconds() - JWT_BACK_SECONDS,
        "exp": now.seconds() + JWT_SECONDS,
        "iss": issuer,
    });
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let mut signature = vec![0; key.public_modulus_len()];
    // PKCS#1 v1.5 is deterministic: the generator is asked for by the interface alone.
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
        .map_err(|_| wrong())?;
    let _ = key.public_key();
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(auth: &Auth) -> Result<Option<(String, Secret<String>)>, String> {
        let named = [("key", "sk_1"), ("sid", "AC1"), ("token", "t:1"), ("line", "a\nb")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        header(auth, &named, Timestamp::from_seconds(1_796_040_000))
    }

    fn value(auth: &Auth) -> String {
        of(auth).unwrap().unwrap().1.expose().clone()
    }

    #[test]
    fn each_way_makes_its_header() {
        assert_eq!(value(&Auth::Bearer("{key}".into())), "Bearer sk_1");
        assert_eq!(value(&Auth::Basic("{sid}".into(), "{token}".into())), "Basic QUMxOnQ6MQ==");
        assert_eq!(value(&Auth::Header("Authorization".into(), "SSWS {key}".into())), "SSWS sk_1");
        assert!(of(&Auth::None).unwrap().is_none());
    }

    #[test]
    fn what_can_not_be_a_header_is_refused_without_being_said() {
        let line = of(&Auth::Bearer("{line}".into())).unwrap_err();
        assert!(!line.contains("a\nb"));
        assert!(of(&Auth::Bearer("{missing}".into())).is_err());
        let jwt = Auth::JwtRs256 { issuer: "{sid}".into(), key: "{key}".into() };
        assert!(!of(&jwt).unwrap_err().contains("sk_1"));
    }
}
