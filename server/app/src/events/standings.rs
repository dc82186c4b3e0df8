//! Where the events of a list stand, at every consumer that had them.

use std::collections::HashMap;

use restante_core::id::ReceiptId;
use restante_store::StoreError;
use restante_store::handoffs::{self, Standing};

use crate::{App, By};

impl App {
    /// Where some events of the caller's tenant stand. One that has no handoff is left out.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn standings(
        &self,
        by: &By,
        ids: Vec<ReceiptId>,
    ) -> Result<HashMap<ReceiptId, Vec<Standing>>, StoreError> {
        let tenant = by.tenant();
        let found = self
            .store
            .read(move |conn| Box::pin(async move { handoffs::states_of_receipts(conn, tenant, &ids).await }))
            .await?;
        let mut standings: HashMap<ReceiptId, Vec<Standing>> = HashMap::new();
        for standing in found {
            standings.entry(standing.receipt).or_default().push(standing);
        }
        Ok(standings)
    }
}
