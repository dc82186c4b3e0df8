//! An event's bytes for the eyes of a person: whoever opens them is on the audit log. A program that
//! reads payloads holds a key for it, and is not written down each time.

use restante_core::id::ReceiptId;
use restante_core::problem::{Code, Problem};
use restante_store::StoreError;
use restante_store::control::audit;
use restante_store::events::PayloadState;
use serde_json::json;

use super::{EventDetail, Payload, PayloadPart};
use crate::{App, By};

impl App {
    /// An event with its history, its bytes and those of its variants, for a person to look at.
    ///
    /// # Errors
    /// Not found; gone where the bytes are no longer kept.
    pub async fn reveal_event(&self, by: &By, id: ReceiptId) -> Result<EventDetail, StoreError> {
        let detail = self.event(by, id, true).await?;
        if detail.event.receipt.payload_state != PayloadState::Stored {
            return Err(Problem::new(Code::Gone, "The payload of this event is no longer kept.").into());
        }
        self.note_reveal(by, id, "view").await?;
        Ok(detail)
    }

    /// The bytes of an event as a file for a person.
    ///
    /// # Errors
    /// Not found; gone where they are no longer kept.
    pub async fn download_payload(
        &self,
        by: &By,
        id: ReceiptId,
        part: PayloadPart,
    ) -> Result<Payload, StoreError> {
        let payload = self.payload(by, id, part).await?;
        self.note_reveal(by, id, "download").await?;
        Ok(payload)
    }

    /// Before the bytes are given out, so that none are without a line.
    async fn note_reveal(&self, by: &By, id: ReceiptId, how: &str) -> Result<(), StoreError> {
        let tenant = by.tenant();
        let detail = json!({ "how": how });
        let line = by.audit(&*self.random, self.clock.now(), "payload.view", id.to_string(), &detail);
        self.store.write(move |conn| Box::pin(audit::insert(conn, tenant, line))).await
    }
}

#[cfg(test)]
mod tests {
    use restante_store::both_engines;

    use super::*;
    use crate::events::EventFilter;
    use crate::testing::TestApp;

    both_engines!(who_opens_a_payload_is_on_the_audit_log, |t| async {
        let a = TestApp::new(t);
        let tenant = a.tenant("acme").await;
        let other = a.tenant("beta").await;
        let endpoint = a.endpoint(&tenant.by, "Payments").await;
        a.app.send_test_event(&tenant.by, endpoint, Default::default(), None).await.unwrap();
        let list = a.app.events(&tenant.by, EventFilter::default(), None, 1, false).await.unwrap();
        let id = list.events[0].receipt.id;
        let lines = async || a.t.count("audit_log WHERE action = 'payload.view'").await;
        a.app.event(&tenant.by, id, false).await.unwrap();
        assert_eq!(lines().await, 0);
        let seen = a.app.reveal_event(&tenant.by, id).await.unwrap();
        assert!(!seen.event.content.unwrap().body.is_empty());
        assert_eq!(lines().await, 1);
        a.app.download_payload(&tenant.by, id, PayloadPart::Event).await.unwrap();
        assert_eq!(lines().await, 2);
        assert!(a.app.reveal_event(&other.by, id).await.is_err());
        assert!(a.app.download_payload(&other.by, id, PayloadPart::Whole).await.is_err());
        assert_eq!(lines().await, 2);
        a.t.execute("UPDATE receipts SET payload_state = 'removed'").await;
        match a.app.reveal_event(&tenant.by, id).await {
            Err(StoreError::Problem(problem)) => assert_eq!(problem.code, Code::Gone),
            other => panic!("{other:?}"),
        }
        // Where it stands is no secret.
        let standings = a.app.standings(&tenant.by, vec![id]).await.unwrap();
        assert_eq!((standings[&id].len(), standings[&id][0].consumer.as_str()), (1, "default"));
        assert!(a.app.standings(&other.by, vec![id]).await.unwrap().is_empty());
    });
}
