//! Ack, nack and extend. Each lease is answered for itself, in order; the same call again answers the
//! same.

use restante_core::handoff::LeaseResult;
use restante_core::token::LeaseToken;
use restante_store::handoffs::{self, LeaseAck, LeaseNack};
use restante_store::{StoreError, consumers};

use super::{Ack, LeaseAnswer, NackOne, check};
use crate::consumers::not_found;
use crate::{App, By, figures};

impl App {
    /// Acks leases of a consumer.
    ///
    /// # Errors
    /// Not found, too many leases, or what the database ran into; then none of them counts.
    pub async fn ack(
        &self,
        by: &By,
        consumer: &str,
        asked: Vec<Ack>,
    ) -> Result<Vec<LeaseAnswer>, StoreError> {
        check::leases(asked.len())?;
        let (tenant, name) = (by.tenant(), consumer.to_owned());
        let texts: Vec<String> = asked.iter().map(|ack| ack.lease.clone()).collect();
        let leases = asked
            .into_iter()
            .map(|ack| LeaseAck {
                token: LeaseToken::parse(&ack.lease),
                remote_operation_id: check::word(ack.remote_operation_id),
                note: check::note(ack.note),
            })
            .collect();
        let results = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, tenant, &name).await?.ok_or_else(not_found)?;
                    handoffs::ack(conn, &consumer, leases).await
                })
            })
            .await?;
        Ok(answers(texts, results))
    }

    /// Nacks leases of a consumer.
    ///
    /// # Errors
    /// Not found, too many leases, or what the database ran into; then none of them counts.
    pub async fn nack(
        &self,
        by: &By,
        consumer: &str,
        asked: Vec<NackOne>,
    ) -> Result<Vec<LeaseAnswer>, StoreError> {
        check::leases(asked.len())?;
        check::delays(&asked)?;
        let (tenant, name) = (by.tenant(), consumer.to_owned());
        let texts: Vec<String> = asked.iter().map(|nack| nack.lease.clone()).collect();
        let leases = asked
            .into_iter()
            .map(|nack| LeaseNack {
                token: LeaseToken::parse(&nack.lease),
                asked: nack.asked,
                retry_in_seconds: nack.retry_in_seconds,
                error: check::note(nack.error),
                remote_operation_id: check::word(nack.remote_operation_id),
                random: u64::from_be_bytes(self.random.bytes()),
            })
            .collect();
        let (consumer, results) = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, tenant, &name).await?.ok_or_else(not_found)?;
                    let results = handoffs::nack(conn, &consumer, leases).await?;
                    Ok((consumer.id, results))
                })
            })
            .await?;
        let count = |wanted| results.iter().filter(|result| **result == wanted).count() as u64;
        figures::handoffs_failed(count(LeaseResult::Failed));
        if count(LeaseResult::Retried) > 0 {
            figures::handoffs_retried(count(LeaseResult::Retried));
            // It may be due at once; who waits reads from the database when.
            self.wake(&[consumer]);
        }
        Ok(answers(texts, results))
    }

    /// Extends leases of a consumer: they run `lease_seconds` from now on.
    ///
    /// # Errors
    /// Not found, fields at fault, or what the database ran into; then none of them is extended.
    pub async fn extend(
        &self,
        by: &By,
        consumer: &str,
        leases: Vec<String>,
        lease_seconds: u32,
    ) -> Result<Vec<LeaseAnswer>, StoreError> {
        check::leases(leases.len())?;
        check::lease_seconds(lease_seconds)?;
        let (tenant, name) = (by.tenant(), consumer.to_owned());
        let tokens: Vec<Option<LeaseToken>> = leases.iter().map(|text| LeaseToken::parse(text)).collect();
        let results = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    let consumer = consumers::by_name(conn, tenant, &name).await?.ok_or_else(not_found)?;
                    handoffs::extend(conn, &consumer, &tokens, lease_seconds).await
                })
            })
            .await?;
        let answer = |(lease, extension): (String, handoffs::Extension)| LeaseAnswer {
            lease,
            result: extension.result,
            expires_at: extension.expires_at,
        };
        Ok(leases.into_iter().zip(results).map(answer).collect())
    }
}

fn answers(texts: Vec<String>, results: Vec<LeaseResult>) -> Vec<LeaseAnswer> {
    let answer = |(lease, result)| LeaseAnswer { lease, result, expires_at: None };
    texts.into_iter().zip(results).map(answer).collect()
}
