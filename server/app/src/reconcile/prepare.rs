//! From what is stored to what can be called: recipe, options and opened credentials.

use std::collections::BTreeMap;

use restante_core::catalogue::{Catalogue, Provider};
use restante_core::id::{EndpointId, TenantId};
use restante_core::problem::FieldError;
use restante_core::reconcile::{Lister, Recipe};
use restante_core::seal::{Place, TenantKeyset};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::control::endpoints::EndpointRow;
use restante_store::reconciliation::ReconciliationRow;
use serde_json::{Map, Value};

use crate::App;
use crate::tenant_keys::unreadable;

/// Credentials by their names.
pub(super) type Credentials = BTreeMap<String, Secret<String>>;

/// The largest recipe of a tenant.
const RECIPE_BYTES_MAX: usize = 32 * 1024;

/// The provider of an endpoint.
pub(super) fn provider(endpoint: &EndpointRow) -> Option<&'static Provider> {
    Catalogue::builtin().get(&endpoint.provider)
}

/// The recipe that counts: the catalogue's, or the one among the options; and the other options.
///
/// # Errors
/// Why there is none.
pub(super) fn recipe(
    provider: &Provider,
    options: &Map<String, Value>,
) -> Result<(Recipe, Map<String, Value>), Vec<FieldError>> {
    let fault = |pointer: &str, detail: String| vec![FieldError { pointer: pointer.to_owned(), detail }];
    let mut rest = options.clone();
    if let Some(recipe) = provider.recipe() {
        return Ok((recipe.clone(), rest));
    }
    if !provider.takes_recipe() {
        return Err(fault(
            "/options",
            format!("{} can’t be asked: {}", provider.title, provider.reconciliation_how()),
        ));
    }
    let Some(words) = rest.remove("recipe") else {
        let what = "The catalogue does not know how this sender lists its events. Describe it here, with the words of a recipe.";
        return Err(fault("/options/recipe", what.to_owned()));
    };
    if words.to_string().len() > RECIPE_BYTES_MAX {
        return Err(fault("/options/recipe", format!("A recipe has at most {RECIPE_BYTES_MAX} bytes.")));
    }
    let recipe = serde_json::from_value(words)
        .map_err(|error| fault("/options/recipe", format!("This can’t be read as a recipe: {error}.")))?;
    Ok((recipe, rest))
}

/// Recipe and values together.
///
/// # Errors
/// What is missing or wrong, each with its place.
pub(super) fn lister(
    provider: &Provider,
    base_url: Option<&str>,
    options: &Map<String, Value>,
    credentials: &Credentials,
) -> Result<Lister, Vec<FieldError>> {
    let (recipe, rest) = recipe(provider, options)?;
    Lister::new(&recipe, base_url, &rest, credentials)
}

/// The stored options.
pub(super) fn options(row: &ReconciliationRow) -> Result<Map<String, Value>, StoreError> {
    serde_json::from_str(&row.options).map_err(|_| corrupt("options"))
}

/// The stored credentials, opened.
pub(super) fn credentials(keys: &TenantKeyset, row: &ReconciliationRow) -> Result<Credentials, StoreError> {
    let place = Place::reconciliation_credentials(row.endpoint);
    let opened =
        keys.open_secret(&place, &row.credentials_sealed).map_err(|error| unreadable(&place, &error))?;
    let read: BTreeMap<String, String> =
        serde_json::from_slice(opened.expose()).map_err(|_| corrupt("credentials_sealed"))?;
    Ok(read.into_iter().map(|(name, value)| (name, Secret::new(value))).collect())
}

/// The credentials as they are stored.
pub(super) fn sealed(
    app: &App,
    keys: &TenantKeyset,
    endpoint: EndpointId,
    credentials: &Credentials,
) -> Vec<u8> {
    let plain: BTreeMap<&str, &str> =
        credentials.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect();
    // A map of texts always becomes JSON.
    let plain = zeroize::Zeroizing::new(serde_json::to_vec(&plain).unwrap_or_default());
    keys.seal(&Place::reconciliation_credentials(endpoint), &plain, app.random.bytes())
}

fn corrupt(column: &str) -> StoreError {
    StoreError::Corrupt { statement: "RECONCILIATION", column: column.to_owned() }
}

impl App {
    /// An endpoint with what is set for its reconciliation.
    pub(super) async fn reconciliation_rows(
        &self,
        tenant: TenantId,
        endpoint: EndpointId,
    ) -> Result<Option<(EndpointRow, Option<ReconciliationRow>)>, StoreError> {
        self.store
            .read(move |conn| {
                Box::pin(async move {
                    let found = restante_store::control::endpoints::get(conn, tenant, endpoint).await?;
                    let Some(row) = found else { return Ok(None) };
                    let set = restante_store::reconciliation::settings(conn, tenant, endpoint).await?;
                    Ok(Some((row, set)))
                })
            })
            .await
    }
}
