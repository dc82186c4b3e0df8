//! The endpoints and consumers of a tenant as the choices of forms.

use std::collections::HashMap;

use restante_app::{App, By};
use restante_core::id::EndpointId;
use restante_store::StoreError;

/// Choices that one list gives.
const MAX: u32 = 250;

/// One choice of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

impl Choice {
    /// A choice whose value is its word.
    pub(crate) fn plain(word: &str, present: &str) -> Self {
        Self { value: word.to_owned(), label: word.to_owned(), chosen: word == present }
    }

    /// A choice with a label of its own.
    pub(crate) fn labelled(value: impl Into<String>, label: impl Into<String>, present: &str) -> Self {
        let value = value.into();
        Self { chosen: value == present, value, label: label.into() }
    }
}

/// What can be chosen from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    endpoints: Vec<(EndpointId, String)>,
    consumers: Vec<String>,
}

impl Choices {
    /// Those of the caller's tenant, the newest 250 of each.
    pub(crate) async fn of(app: &App, by: &By) -> Result<Self, StoreError> {
        let endpoints = app.endpoint_names(by).await?;
        let consumers = app.consumers(by, None, MAX).await?;
        Ok(Self { endpoints, consumers: consumers.into_iter().map(|one| one.name).collect() })
    }

    pub(crate) const fn has_endpoints(&self) -> bool {
        !self.endpoints.is_empty()
    }

    pub(crate) fn endpoints(&self, present: &str) -> Vec<Choice> {
        self.endpoints.iter().map(|(id, name)| Choice::labelled(id.to_string(), name, present)).collect()
    }

    pub(crate) fn consumers(&self, present: &str) -> Vec<Choice> {
        self.consumers.iter().map(|name| Choice::plain(name, present)).collect()
    }

    /// Every endpoint by its id.
    pub(crate) fn endpoint_names(&self) -> HashMap<EndpointId, String> {
        self.endpoints.iter().cloned().collect()
    }

    /// How the value of a filter is called.
    pub(crate) fn word_of(&self, filter: &str, value: &str) -> String {
        let named = self.endpoints.iter().find(|(id, _)| filter == "endpoint" && id.to_string() == value);
        named.map_or_else(|| value.to_owned(), |(_, name)| name.clone())
    }

    #[cfg(test)]
    pub(crate) fn sample(name: &str) -> Self {
        Self {
            endpoints: vec![(EndpointId(uuid::Uuid::from_u128(1)), name.to_owned())],
            consumers: vec!["billing".to_owned(), "mailer".to_owned()],
        }
    }
}
