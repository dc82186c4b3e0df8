//! Changing a consumer by a JSON merge. A changed filter counts from the next event on; what is on
//! its way already stays on its way.

use restante_core::id::ConsumerId;
use restante_core::problem::{FieldError, Problem};
use restante_store::consumers::ConsumerRecord;
use restante_store::control::{audit, tenants};
use restante_store::{StoreError, consumers};
use serde_json::json;

use super::{Consumer, ConsumerChange, check, not_found};
use crate::{App, By};

impl App {
    /// Changes a consumer and gives it as it is then.
    ///
    /// # Errors
    /// Not found, or a [`Problem`] that names every field at fault; then nothing was changed.
    pub async fn update_consumer(
        &self,
        by: &By,
        name: &str,
        change: ConsumerChange,
    ) -> Result<Consumer, StoreError> {
        let now = self.clock.now();
        let (tenant, by, app, name) = (by.tenant(), by.clone(), self.clone(), name.to_owned());
        let changed = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    // First, so that two changes at once don't each undo the other's half.
                    tenants::config_changed(conn, tenant).await?;
                    let before = consumers::by_name(conn, tenant, &name).await?.ok_or_else(not_found)?;
                    let after = merge(&before, change)?;
                    if after.filter != before.filter {
                        check::endpoints_exist(conn, tenant, &after.filter).await?;
                    }
                    let ConsumerRecord { filter, max_attempts, enabled, .. } = &after;
                    consumers::update(conn, &before, filter, *max_attempts, *enabled).await?;
                    let detail =
                        json!({ "filter": filter, "max_attempts": max_attempts, "enabled": enabled });
                    let line = by.audit(&*app.random, now, "consumer.update", name.clone(), &detail);
                    audit::insert(conn, tenant, line).await?;
                    consumers::by_name(conn, tenant, &name).await?.ok_or_else(|| not_found().into())
                })
            })
            .await?;
        self.wake(&[changed.id]);
        Ok(Consumer::new(changed, now))
    }

    /// Wakes those who wait at these consumers, here and on other nodes.
    pub(crate) fn wake(&self, consumers: &[ConsumerId]) {
        for consumer in consumers {
            self.wakeups.wake(*consumer);
        }
        self.store.announce(consumers);
    }
}

fn merge(before: &ConsumerRecord, change: ConsumerChange) -> Result<ConsumerRecord, Problem> {
    let mut errors = Vec::new();
    let mut stays = |pointer: &str, differs: bool, detail: &str| {
        if differs {
            errors.push(FieldError { pointer: pointer.to_owned(), detail: detail.to_owned() });
        }
    };
    let named_otherwise = change.name.as_ref().is_some_and(|name| *name != before.name);
    stays("/name", named_otherwise, "A consumer keeps its name: make another one.");
    let starts_otherwise = change.start.is_some_and(|start| start.as_deref() != Some(&*before.start));
    stays("/start", starts_otherwise, "The start counts when a consumer is made: replay what came before.");
    check::mode(change.mode.flatten().as_deref(), &mut errors);
    check::ordering(change.ordering.flatten().as_ref(), &mut errors);
    check::push(change.push.flatten().as_ref(), &mut errors);
    let mut after = before.clone();
    if let Some(filter) = change.filter {
        after.filter = check::filter(filter, &mut errors);
    }
    if let Some(max_attempts) = change.max_attempts {
        after.max_attempts = check::max_attempts(max_attempts, &mut errors);
    }
    if let Some(enabled) = change.enabled {
        after.enabled = enabled.unwrap_or(true);
    }
    if errors.is_empty() { Ok(after) } else { Err(Problem::fields(errors)) }
}
