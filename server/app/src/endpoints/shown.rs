//! Between what is stored of an endpoint and what its tenant sees: the URL with its token, options
//! with hints in place of the secret ones, secrets as hints.

use restante_core::catalogue::{Provider, Scheme};
use restante_core::id::SecretId;
use restante_core::seal::{NONCE_BYTES, Place, TenantKeyset};
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_core::token::IngestToken;
use restante_store::StoreError;
use restante_store::control::endpoints::EndpointRow;
use restante_store::control::secrets::SecretRow;
use serde_json::{Map, Value, json};

use super::hint::hint;
use super::{Endpoint, EndpointSecret};
use crate::App;
use crate::tenant_keys::unreadable;

/// Options in two parts: those that are stored in clear, and those that are sealed.
#[derive(Default)]
pub(super) struct Options {
    pub(super) open: Map<String, Value>,
    pub(super) secret: Map<String, Value>,
}

impl Options {
    /// Parts options by what the catalogue marks secret. `null` stands for an option that isn't there.
    pub(super) fn split(provider: &Provider, options: Map<String, Value>) -> Self {
        let marked = Scheme::secret_options(provider);
        let (secret, open) = options
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .partition(|(name, _)| marked.contains(name));
        Self { open, secret }
    }

    /// Reads what is stored.
    pub(super) fn read(keys: &TenantKeyset, row: &EndpointRow) -> Result<Self, StoreError> {
        let place = Place::endpoint_options(row.id);
        let open = serde_json::from_str(&row.options).map_err(|error| unreadable(&place, &error))?;
        let secret = match &row.options_sealed {
            None => Map::new(),
            Some(sealed) => {
                let text = keys.open_secret(&place, sealed).map_err(|error| unreadable(&place, &error))?;
                serde_json::from_slice(text.expose()).map_err(|error| unreadable(&place, &error))?
            }
        };
        Ok(Self { open, secret })
    }

    /// Both parts in one, as the scheme takes them.
    pub(super) fn whole(&self) -> Map<String, Value> {
        self.open.iter().chain(&self.secret).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What is stored in clear.
    pub(super) fn stored(&self) -> String {
        Value::Object(self.open.clone()).to_string()
    }

    /// What is stored sealed.
    pub(super) fn sealed(
        &self,
        keys: &TenantKeyset,
        place: &Place,
        nonce: [u8; NONCE_BYTES],
    ) -> Option<Vec<u8>> {
        if self.secret.is_empty() {
            return None;
        }
        let text = Secret::new(Value::Object(self.secret.clone()).to_string());
        Some(keys.seal(place, text.expose().as_bytes(), nonce))
    }

    /// What the tenant sees.
    fn shown(&self) -> Map<String, Value> {
        let mut shown = self.open.clone();
        for (name, value) in &self.secret {
            // A secret that is no text shows nothing of itself.
            let hint = hint(value.as_str().unwrap_or_default());
            shown.insert(name.clone(), json!({ "hint": hint }));
        }
        shown
    }
}

/// The endpoint's row, its options and its secrets as its tenant sees them.
pub(super) fn endpoint(
    app: &App,
    keys: &TenantKeyset,
    row: EndpointRow,
    secrets: &[SecretRow],
    now: Timestamp,
) -> Result<Endpoint, StoreError> {
    let place = Place::endpoint_token(row.id);
    let token = keys.open_secret(&place, &row.token_sealed).map_err(|error| unreadable(&place, &error))?;
    let token = std::str::from_utf8(token.expose())
        .ok()
        .and_then(IngestToken::parse)
        .ok_or_else(|| unreadable(&place, &"it is no token"))?;
    let options = Options::read(keys, &row)?.shown();
    Ok(Endpoint {
        id: row.id,
        name: row.name,
        provider: row.provider,
        url: url(app, &token),
        options,
        dedup_scope: row.dedup_scope,
        max_body_bytes: row.max_body_bytes,
        retention: None,
        secrets: secrets.iter().filter(|secret| is_live(secret, now)).map(secret).collect(),
        enabled: row.enabled,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

/// The URL that is registered with the sender.
pub(super) fn url(app: &App, token: &IngestToken) -> String {
    format!("{}/in/{}", app.settings.public_url, token.expose())
}

/// Whether a secret verifies at a time.
pub(super) fn is_live(secret: &SecretRow, now: Timestamp) -> bool {
    secret.expires_at.is_none_or(|expires_at| now < expires_at)
}

/// A secret as its tenant sees it.
pub(super) fn secret(row: &SecretRow) -> EndpointSecret {
    EndpointSecret {
        id: row.id,
        hint: row.hint.clone(),
        created_at: row.created_at,
        expires_at: row.expires_at,
    }
}

/// A new secret, sealed. `place` is its number in the request.
pub(super) fn new_secret(
    app: &App,
    keys: &TenantKeyset,
    secret: &Secret<String>,
    place: usize,
    now: Timestamp,
) -> SecretRow {
    // Secrets of one request have one time, so that their order has to stand in the ids.
    let mut random: [u8; 10] = app.random.bytes();
    random[..2].copy_from_slice(&u16::try_from(place).unwrap_or(u16::MAX).to_be_bytes());
    let id = SecretId::new(now, random);
    SecretRow {
        id,
        secret_sealed: keys.seal(&Place::endpoint_secret(id), secret.expose().as_bytes(), app.random.bytes()),
        hint: hint(secret.expose()),
        created_at: now,
        expires_at: None,
    }
}

/// The secret itself.
pub(super) fn open_secret(keys: &TenantKeyset, row: &SecretRow) -> Result<Secret<String>, StoreError> {
    let place = Place::endpoint_secret(row.id);
    let opened = keys.open_secret(&place, &row.secret_sealed).map_err(|error| unreadable(&place, &error))?;
    let text = std::str::from_utf8(opened.expose()).map_err(|error| unreadable(&place, &error))?;
    Ok(Secret::new(text.to_owned()))
}
