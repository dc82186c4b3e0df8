//! Making a consumer. From its transaction on no event misses it; what was here before follows right
//! after, and what does not fit into this call is left to the sweep.

use restante_core::id::{ConsumerId, TenantId};
use restante_core::limits::CONSUMERS_PER_TENANT_MAX;
use restante_core::problem::{Code, Problem};
use restante_core::tenant_limits::Limited;
use restante_store::control::audit;
use restante_store::{StoreError, consumers};
use serde_json::json;

use super::{Consumer, NewConsumer, check};
use crate::idempotency::Once;
use crate::quota::room_for;
use crate::{App, By, Made, Repeat};

/// Steps of the backfill that the call itself does, 500 receipts each.
const STEPS_AT_ONCE: usize = 4;

impl App {
    /// Makes a consumer.
    ///
    /// # Errors
    /// A [`Problem`]: fields at fault, or a name that is taken.
    pub async fn create_consumer(
        &self,
        by: &By,
        asked: NewConsumer,
        repeat: Option<Repeat>,
    ) -> Result<Made<Consumer>, StoreError> {
        let now = self.clock.now();
        let checked = check::new_consumer(asked, now)?;
        let keys = self.tenant_keys(by.tenant()).await?;
        let once = Once::new(self, by, repeat, &keys, now);
        let id = ConsumerId::new(now, self.random.bytes());
        let detail = json!({ "filter": checked.filter, "start": checked.start });
        let line = by.audit(&*self.random, now, "consumer.create", checked.name.clone(), &detail);
        let tenant = by.tenant();
        let made = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    if let Some(made) = once.begin::<Consumer>(conn).await? {
                        return Ok(made);
                    }
                    let others = consumers::all(conn, tenant).await?;
                    if others.iter().any(|other| other.name == checked.name) {
                        return Err(taken(&checked.name).into());
                    }
                    if others.len() >= CONSUMERS_PER_TENANT_MAX {
                        let detail = format!("A tenant can have {CONSUMERS_PER_TENANT_MAX} consumers.");
                        return Err(Problem::new(Code::Conflict, detail).into());
                    }
                    let count = others.len() as u64;
                    room_for(conn, tenant, Limited::Consumers, async |_| Ok(count)).await?;
                    check::endpoints_exist(conn, tenant, &checked.filter).await?;
                    let new = consumers::NewConsumer {
                        id,
                        name: checked.name,
                        filter: checked.filter,
                        max_attempts: checked.max_attempts,
                        enabled: checked.enabled,
                        start: checked.start,
                        start_from: checked.start_from,
                    };
                    let record = consumers::insert(conn, tenant, &new).await?;
                    audit::insert(conn, tenant, line).await?;
                    once.keep(conn, Consumer::new(record, now)).await
                })
            })
            .await?;
        if made.repeated || !made.value.backfilling {
            return Ok(made);
        }
        let backfilling = self.backfill_a_little(tenant, id).await;
        Ok(Made { value: Consumer { backfilling, ..made.value }, repeated: false })
    }

    /// Does the first steps, and tells whether some are left. The consumer is made; a fault here only
    /// leaves more to the sweep.
    async fn backfill_a_little(&self, tenant: TenantId, consumer: ConsumerId) -> bool {
        for _ in 0..STEPS_AT_ONCE {
            let step = self
                .store
                .write(move |conn| Box::pin(consumers::write_backfill_step(conn, tenant, consumer)))
                .await;
            match step {
                Ok(step) if step.done => return false,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "the backfill of a new consumer goes on later");
                    return true;
                }
            }
        }
        true
    }
}

fn taken(name: &str) -> Problem {
    Problem::new(Code::Conflict, format!("There is a consumer \"{name}\" already. Choose another name."))
}
