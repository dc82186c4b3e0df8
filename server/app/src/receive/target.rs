//! An endpoint as the receiving path needs it: found by its token, with everything prepared once.

use std::sync::Arc;

use restante_core::catalogue::{Catalogue, DedupScope, Key, Scheme};
use restante_core::id::{EndpointId, SecretId, TenantId};
use restante_core::limits;
use restante_core::problem::{Code, Problem};
use restante_core::request::HeaderList;
use restante_core::seal::{Place, TenantKeyset};
use restante_core::tenant_limits::{TenantLimits, measures};
use restante_core::time::Timestamp;
use restante_core::token::IngestToken;
use restante_core::verify::{self, Reply};
use restante_store::SeenEndpoint;
use restante_store::control::receiving::{EndpointRecord, EndpointSecret};
use serde_json::{Map, Value};

use super::answer;
use super::record::REMOVED;
use crate::App;

/// An endpoint with its compiled scheme and derived keys. It is at most a few seconds old, and what it
/// lets in is committed only while it still holds.
pub struct Target {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its id.
    pub endpoint: EndpointId,
    pub(super) endpoint_text: String,
    /// The token in its URL, by which it is read anew.
    pub(super) token: IngestToken,
    /// What a commit compares, to find out whether this still holds.
    pub(super) seen: SeenEndpoint,
    pub(super) provider: &'static str,
    pub(super) scheme: Scheme,
    /// The decoder that receipts record, made once.
    pub(super) decoder: String,
    /// The keys that are valid now, and in the same order the secrets they come from.
    pub(super) keys: Vec<Key>,
    pub(super) secrets: Vec<SecretId>,
    pub(super) sealing: Arc<TenantKeyset>,
    pub(super) url: String,
    pub(super) dedup_scope: Option<DedupScope>,
    pub(super) body_bytes_max: u64,
    pub(super) enabled: bool,
    pub(super) suspended: bool,
    pub(super) limits: TenantLimits,
    /// Whether the tenant holds as many events or bytes as it may. It may be some seconds old.
    pub(super) full: bool,
    pub(super) loaded_at: Timestamp,
    /// When the first of the keys ends.
    pub(super) good_until: Timestamp,
}

/// Why an endpoint takes no deliveries now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Its tenant has disabled it.
    Disabled,
    /// An administrator has suspended its tenant.
    Suspended,
    /// Its tenant holds as much as it may.
    Full,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({}, {})", self.tenant, self.endpoint)
    }
}

impl Target {
    /// Reads the endpoint of a token and prepares it; `None` when there is none.
    pub(super) async fn load(app: &App, token: &IngestToken) -> Result<Option<Self>, Problem> {
        // The age counts from before the rows were read.
        let loaded_at = app.clock.now();
        let found = app.store.endpoint_by_token_hash(&token.hash()).await;
        let Some(record) = found.map_err(|error| not_readable("the endpoint of a token", &error))? else {
            return Ok(None);
        };
        let sealing = app
            .keys
            .of(record.tenant, &app.store)
            .await
            .map_err(|error| not_readable("the keys of a tenant", &error))?;
        Self::prepare(app, token, record, sealing, loaded_at).map(Some)
    }

    fn prepare(
        app: &App,
        token: &IngestToken,
        record: EndpointRecord,
        sealing: Arc<TenantKeyset>,
        loaded_at: Timestamp,
    ) -> Result<Self, Problem> {
        let provider = Catalogue::builtin()
            .get(&record.provider)
            .ok_or_else(|| not_readable("the endpoint's provider", &"the catalogue does not have it"))?;
        let options = opened_options(&record, &sealing)?;
        let scheme = Scheme::compile(provider, &options)
            .map_err(|errors| not_readable("the endpoint's options", &errors.len()))?;
        let live: Vec<&EndpointSecret> =
            record.secrets.iter().filter(|secret| secret.is_live(loaded_at)).collect();
        let good_until = live
            .iter()
            .filter_map(|secret| secret.expires_at)
            .min()
            .unwrap_or(Timestamp::from_micros(i64::MAX));
        let (mut keys, mut secrets) = (Vec::new(), Vec::new());
        for secret in live {
            let opened = sealing
                .open_secret(&Place::endpoint_secret(secret.id), &secret.secret_sealed)
                .map_err(|error| not_readable("a secret of the endpoint", &error))?;
            let text = std::str::from_utf8(opened.expose())
                .map_err(|error| not_readable("a secret of the endpoint", &error))?;
            keys.push(
                scheme.key(text).map_err(|_| not_readable("a secret of the endpoint", &"it makes no key"))?,
            );
            secrets.push(secret.id);
        }
        let body_bytes_max = record
            .max_body_bytes
            .or(scheme.body_bytes_max())
            .unwrap_or(limits::BODY_BYTES_DEFAULT)
            .min(app.settings.body_bytes_ceiling);
        Ok(Self {
            tenant: record.tenant,
            endpoint: record.id,
            endpoint_text: record.id.to_string(),
            token: token.clone(),
            seen: record.seen,
            provider: &provider.slug,
            decoder: scheme.decoder(),
            scheme,
            keys,
            secrets,
            sealing,
            url: format!("{}/in/{}", app.settings.public_url, token.expose()),
            dedup_scope: record.dedup_scope,
            body_bytes_max,
            enabled: record.enabled,
            suspended: record.tenant_suspended,
            full: measures(&record.limits, &record.held)
                .iter()
                .any(|measure| measure.what.stops_receiving() && measure.is_reached()),
            limits: record.limits,
            loaded_at,
            good_until,
        })
    }

    /// Whether it was read so long ago. The distance counts, so that a clock that jumps back makes none
    /// young for ever.
    pub(super) fn is_older_than(&self, micros: u64, now: Timestamp) -> bool {
        now.micros().abs_diff(self.loaded_at.micros()) >= micros
    }

    /// The largest body that this endpoint accepts, in bytes.
    pub const fn body_bytes_max(&self) -> u64 {
        self.body_bytes_max
    }

    /// The provider's slug.
    pub const fn provider(&self) -> &'static str {
        self.provider
    }

    /// Why it takes no deliveries now.
    pub(super) const fn closed(&self) -> Option<Closed> {
        match (self.enabled, self.suspended, self.full) {
            (false, ..) => Some(Closed::Disabled),
            (true, true, _) => Some(Closed::Suspended),
            (true, false, true) => Some(Closed::Full),
            (true, false, false) => None,
        }
    }

    /// Whether a request is answered before its body is read.
    pub(crate) fn gate(&self, method: &str) -> Option<Reply> {
        if method == "HEAD" {
            // Providers probe a URL before they save it.
            return Some(Reply { status: 200, headers: Vec::new(), body: Vec::new() });
        }
        // Never a status that makes a provider give up for good.
        self.closed().map(|closed| match closed {
            Closed::Disabled => answer::unavailable(),
            Closed::Suspended | Closed::Full => answer::unavailable_for_long(),
        })
    }

    /// A header of a stored request whose value was the credential, so that nothing of it was kept.
    pub(crate) fn removed_credential(&self, headers: &HeaderList) -> Option<&str> {
        let names = self.scheme.credential_headers();
        names.iter().map(String::as_str).find(|name| headers.all(name).any(|value| value == REMOVED))
    }

    /// What verification, and signing, need to know of it.
    pub(crate) fn for_verification(&self) -> verify::Endpoint<'_> {
        verify::Endpoint {
            scheme: &self.scheme,
            keys: &self.keys,
            url: &self.url,
            endpoint_id: &self.endpoint_text,
            dedup_scope: self.dedup_scope,
            body_bytes_max: self.body_bytes_max,
        }
    }
}

/// The endpoint's options with its secret ones among them.
fn opened_options(record: &EndpointRecord, sealing: &TenantKeyset) -> Result<Map<String, Value>, Problem> {
    let what = "the endpoint's options";
    let mut options: Map<String, Value> =
        serde_json::from_str(&record.options).map_err(|error| not_readable(what, &error))?;
    if let Some(sealed) = &record.options_sealed {
        let opened = sealing
            .open_secret(&Place::endpoint_options(record.id), sealed)
            .map_err(|error| not_readable(what, &error))?;
        let secret: Map<String, Value> =
            serde_json::from_slice(opened.expose()).map_err(|_| not_readable(what, &"they are damaged"))?;
        options.extend(secret);
    }
    Ok(options)
}

/// An endpoint that is there and can't be used is our fault: the sender has to come back.
fn not_readable(what: &str, error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(what, error = %error, "an endpoint can't be used");
    Problem::new(Code::Unavailable, "The endpoint can't be used now. The log of the server says why.")
}
