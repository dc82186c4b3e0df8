//! What a tenant sets for an endpoint: whether its provider is asked, how often, and with which credentials.
//! They are sealed, shown by their last characters alone, and tried when they are saved.

use std::collections::BTreeMap;

use restante_core::catalogue::Provider;
use restante_core::id::EndpointId;
use restante_core::problem::{FieldError, Problem};
use restante_core::reconcile::{Field, Lister, Window};
use restante_core::secret::Secret;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::control::{audit, endpoints, tenants};
use restante_store::reconciliation::{self as rows, ReconciliationRow};
use serde_json::{Map, Value, json};

use super::not_set;
use super::prepare::{self, Credentials};
use super::turn_to_try::Turn;
use crate::endpoints::hint;
use crate::outbound::{Call, CallFault};
use crate::{App, By};

/// Between two runs when nothing is said: an hour.
const INTERVAL_SECONDS_DEFAULT: u32 = 60 * 60;
const INTERVAL_SECONDS_MIN: u32 = 60;
const INTERVAL_SECONDS_MAX: u32 = 7 * 24 * 60 * 60;
/// How far a run looks back before the last one's end when nothing is said: an hour.
const OVERLAP_SECONDS_DEFAULT: u32 = 60 * 60;
const OVERLAP_SECONDS_MAX: u32 = 7 * 24 * 60 * 60;
/// Options as JSON.
const OPTIONS_BYTES_MAX: usize = 40 * 1024;

/// What is asked to be set. What is left out takes its default; credentials that are left out stay.
#[derive(Debug, Clone, Default)]
pub struct ReconciliationAsked {
    /// Whether runs begin by themselves.
    pub enabled: Option<bool>,
    /// By the names of the recipe.
    pub credentials: BTreeMap<String, Secret<String>>,
    /// In place of the recipe's host.
    pub base_url: Option<String>,
    /// Between two runs.
    pub interval_seconds: Option<u32>,
    /// How far a run looks back before the last one's end.
    pub overlap_seconds: Option<u32>,
    /// By the names of the recipe, and `recipe` where the catalogue has none.
    pub options: Map<String, Value>,
}

/// What is set for an endpoint, as its tenant sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciliation {
    /// Whether runs begin by themselves.
    pub enabled: bool,
    /// What each credential is known by.
    pub credentials: BTreeMap<String, String>,
    /// In place of the recipe's host.
    pub base_url: Option<String>,
    /// Between two runs.
    pub interval_seconds: u32,
    /// How far a run looks back before the last one's end.
    pub overlap_seconds: u32,
    /// The other values of the recipe.
    pub options: Map<String, Value>,
    /// Everything up to here has been looked at.
    pub checkpoint_at: Option<Timestamp>,
    /// When the next run is due; `None` while none begins by itself.
    pub next_at: Option<Timestamp>,
    /// Why no run begins by itself any more.
    pub stopped: Option<String>,
    /// When it was set first.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What is unusual about what was just saved.
    pub notice: Option<String>,
}

/// Whether and how an endpoint's provider can be asked, and what is set.
#[derive(Debug, Clone)]
pub struct ReconciliationOffer {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its name.
    pub name: String,
    /// The provider's name for people.
    pub provider: String,
    /// Whether and how it can be asked, in a sentence.
    pub how: String,
    /// Whether there is a recipe, or a tenant may write one.
    pub possible: bool,
    /// Whether the tenant has to write the recipe.
    pub described: bool,
    /// Whether listed objects are compared only.
    pub compares: bool,
    /// What a person gives as credentials.
    pub credentials: Vec<Field>,
    /// What else a person gives.
    pub options: Vec<Field>,
    /// How far back the provider lists, in seconds.
    pub reaches_seconds: Option<u64>,
    /// What is set.
    pub set: Option<Reconciliation>,
}

impl App {
    /// What is set for an endpoint's reconciliation.
    ///
    /// # Errors
    /// Not found, also when nothing is set.
    pub async fn reconciliation(&self, by: &By, id: EndpointId) -> Result<Reconciliation, StoreError> {
        let (_, set) = self.reconciliation_rows(by.tenant(), id).await?.ok_or_else(no_endpoint)?;
        shown(&set.ok_or_else(not_set)?, None)
    }

    /// Whether an endpoint's provider can be asked, how, and what is set.
    ///
    /// # Errors
    /// Not found.
    pub async fn reconciliation_offer(
        &self,
        by: &By,
        id: EndpointId,
    ) -> Result<ReconciliationOffer, StoreError> {
        let (endpoint, set) = self.reconciliation_rows(by.tenant(), id).await?.ok_or_else(no_endpoint)?;
        let set = set.map(|row| shown(&row, None)).transpose()?;
        Ok(offer(&endpoint, set))
    }

    /// The same for every endpoint of the tenant, the newest first, at most 250.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn reconciliation_offers(&self, by: &By) -> Result<Vec<ReconciliationOffer>, StoreError> {
        let tenant = by.tenant();
        let (all, set) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let all = endpoints::page(conn, tenant, None, 250).await?;
                    Ok((all, rows::of_tenant(conn, tenant).await?))
                })
            })
            .await?;
        all.iter()
            .map(|endpoint| {
                let set = set.iter().find(|row| row.endpoint == endpoint.id);
                Ok(offer(endpoint, set.map(|row| shown(row, None)).transpose()?))
            })
            .collect()
    }

    /// Sets an endpoint's reconciliation. The credentials are tried first: what the provider refuses is not
    /// saved; a provider that can't be reached now is said in the notice.
    ///
    /// # Errors
    /// Not found; or what is wrong, each with its place.
    pub async fn set_reconciliation(
        &self,
        by: &By,
        id: EndpointId,
        asked: ReconciliationAsked,
    ) -> Result<Reconciliation, StoreError> {
        let tenant = by.tenant();
        let (endpoint, before) = self.reconciliation_rows(tenant, id).await?.ok_or_else(no_endpoint)?;
        let provider = prepare::provider(&endpoint).ok_or_else(no_endpoint)?;
        let keys = self.tenant_keys(tenant).await?;
        let kept = match &before {
            Some(row) if asked.credentials.is_empty() => Some(prepare::credentials(&keys, row)?),
            _ => None,
        };
        let credentials = kept.clone().unwrap_or_else(|| asked.credentials.clone());
        let lister = checked(provider, &asked, &credentials).map_err(Problem::fields)?;
        if let (Some(row), Some(kept)) = (&before, &kept) {
            // What can't be read out can't be sent elsewhere either.
            let old = prepare::lister(provider, row.base_url.as_deref(), &prepare::options(row)?, kept);
            if !old.is_ok_and(|old| old.base().same_origin(lister.base())) {
                let again = "The credentials would go to another host now, so they have to be given again.";
                return Err(Problem::field("/credentials", again).into());
            }
        }
        let turn = Turn::of(tenant).await?;
        let notice = self.try_out_list(&lister).await.map_err(Problem::fields)?;
        drop(turn);
        let (now, interval) = (self.clock.now(), asked.interval_seconds.unwrap_or(INTERVAL_SECONDS_DEFAULT));
        let hints: BTreeMap<&str, String> =
            credentials.iter().map(|(name, value)| (name.as_str(), hint(value.expose()))).collect();
        let mut row = before.unwrap_or_else(|| ReconciliationRow::new(id, now));
        row.enabled = asked.enabled.unwrap_or(true);
        row.base_url = asked.base_url.clone();
        row.interval_seconds = interval;
        row.overlap_seconds = asked.overlap_seconds.unwrap_or(OVERLAP_SECONDS_DEFAULT);
        row.options = Value::Object(asked.options.clone()).to_string();
        row.credentials_sealed = prepare::sealed(self, &keys, id, &credentials);
        row.credentials_hint = json!(hints).to_string();
        row.updated_at = now;
        let detail = json!({ "enabled": row.enabled, "base_url": row.base_url, "interval_seconds": interval,
            "credentials_changed": kept.is_none() });
        let line = by.audit(&*self.random, now, "reconciliation.set", id.to_string(), &detail);
        let set = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    // The tenant's row first, as every change does.
                    tenants::config_changed(conn, tenant).await?;
                    endpoints::get(conn, tenant, id).await?.ok_or_else(no_endpoint)?;
                    row.due_at = conn.now().await?.plus_seconds(i64::from(interval));
                    rows::put(conn, tenant, row).await?;
                    audit::insert(conn, tenant, line).await?;
                    rows::settings(conn, tenant, id).await?.ok_or_else(|| not_set().into())
                })
            })
            .await?;
        shown(&set, notice)
    }

    /// Forgets an endpoint's reconciliation, with its credentials. The record of its runs stays.
    ///
    /// # Errors
    /// Not found.
    pub async fn delete_reconciliation(&self, by: &By, id: EndpointId) -> Result<(), StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let line = by.audit(&*self.random, now, "reconciliation.delete", id.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    tenants::config_changed(conn, tenant).await?;
                    endpoints::get(conn, tenant, id).await?.ok_or_else(no_endpoint)?;
                    if !rows::delete(conn, tenant, id).await? {
                        return Err(not_set().into());
                    }
                    audit::insert(conn, tenant, line).await
                })
            })
            .await
    }

    /// Asks for one page. Gives what is unusual; the error is what must not be saved.
    async fn try_out_list(&self, lister: &Lister) -> Result<Option<String>, Vec<FieldError>> {
        let fault =
            |pointer: &str, detail: String| Err(vec![FieldError { pointer: pointer.to_owned(), detail }]);
        let now = self.clock.now();
        let window = Window { from: now.plus_seconds(-3_600), to: now };
        let request = match lister.request(window, None, now) {
            Ok(request) => request,
            Err(why) => return fault("/options", why),
        };
        let location = request.location.clone();
        let call = Call {
            location: request.location,
            method: request.method.as_str(),
            headers: request.headers,
            body: request.body,
        };
        let answer = match self.outbound.call(call).await {
            Ok(answer) => answer,
            Err(CallFault::Blocked(why)) => return fault("/base_url", why),
            Err(other) => {
                return Ok(Some(format!(
                    "It is saved, but the provider could not be asked just now: {other}"
                )));
            }
        };
        match answer.status {
            200..=299 => {
                let page =
                    lister.page(&location, None, window, answer.header("link").as_deref(), &answer.body);
                match page {
                    Ok(_) => Ok(None),
                    Err(why) => {
                        fault("/options", format!("The provider answers, but not with a list: {why}"))
                    }
                }
            }
            401 | 403 => fault(
                "/credentials",
                format!("The provider refuses these credentials ({}). Nothing was saved.", answer.status),
            ),
            300..=399 => {
                fault("/base_url", "The provider leads to another place, which is not followed.".to_owned())
            }
            429 | 500..=599 => Ok(Some(format!(
                "It is saved, but the provider answered {} just now, so it is not known whether the credentials are right.",
                answer.status
            ))),
            status => fault(
                "/options",
                format!("The provider answers {status} to the request for its list. Look at the options."),
            ),
        }
    }
}

fn checked(
    provider: &Provider,
    asked: &ReconciliationAsked,
    credentials: &Credentials,
) -> Result<Lister, Vec<FieldError>> {
    let mut errors = Vec::new();
    let mut within = |pointer: &str, value: Option<u32>, least: u32, most: u32| {
        if value.is_some_and(|value| !(least..=most).contains(&value)) {
            let detail = format!("This is {least} to {most} seconds.");
            errors.push(FieldError { pointer: pointer.to_owned(), detail });
        }
    };
    within("/interval_seconds", asked.interval_seconds, INTERVAL_SECONDS_MIN, INTERVAL_SECONDS_MAX);
    within("/overlap_seconds", asked.overlap_seconds, 0, OVERLAP_SECONDS_MAX);
    if Value::Object(asked.options.clone()).to_string().len() > OPTIONS_BYTES_MAX {
        let detail = format!("The options have at most {OPTIONS_BYTES_MAX} bytes.");
        errors.push(FieldError { pointer: "/options".to_owned(), detail });
    }
    match prepare::lister(provider, asked.base_url.as_deref(), &asked.options, credentials) {
        Ok(lister) if errors.is_empty() => Ok(lister),
        Ok(_) => Err(errors),
        Err(more) => {
            errors.extend(more);
            Err(errors)
        }
    }
}

fn shown(row: &ReconciliationRow, notice: Option<String>) -> Result<Reconciliation, StoreError> {
    Ok(Reconciliation {
        enabled: row.enabled,
        credentials: serde_json::from_str(&row.credentials_hint).unwrap_or_default(),
        base_url: row.base_url.clone(),
        interval_seconds: row.interval_seconds,
        overlap_seconds: row.overlap_seconds,
        options: prepare::options(row)?,
        checkpoint_at: row.checkpoint_at,
        next_at: (row.enabled && row.stopped.is_none()).then_some(row.due_at),
        stopped: row.stopped.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        notice,
    })
}

fn offer(endpoint: &endpoints::EndpointRow, set: Option<Reconciliation>) -> ReconciliationOffer {
    let provider = prepare::provider(endpoint);
    let described = provider.is_some_and(Provider::takes_recipe);
    let options = set.as_ref().map(|set| set.options.clone()).unwrap_or_default();
    let recipe =
        provider.and_then(|provider| prepare::recipe(provider, &options).ok()).map(|(recipe, _)| recipe);
    ReconciliationOffer {
        endpoint: endpoint.id,
        name: endpoint.name.clone(),
        provider: provider.map_or_else(|| endpoint.provider.clone(), |provider| provider.title.clone()),
        how: provider.map_or_else(String::new, |provider| provider.reconciliation_how().to_owned()),
        possible: described || recipe.is_some(),
        described,
        compares: recipe.as_ref().is_some_and(|recipe| recipe.compare.is_some()),
        credentials: recipe.as_ref().map_or_else(Vec::new, |recipe| recipe.credentials.clone()),
        options: recipe.as_ref().map_or_else(Vec::new, |recipe| recipe.options.clone()),
        reaches_seconds: recipe.as_ref().map(|recipe| recipe.reaches_seconds),
        set,
    }
}

pub(super) fn no_endpoint() -> Problem {
    Problem::not_found("endpoint")
}
