//! Handoffs and their leases: claim, ack, nack, extend, expiry, replay, repair and settlement.
//!
//! A live attempt is the handoff's own row: its number, lease and holder. When it ends it becomes a
//! row of `attempts`, from which a repeated call is answered as the first time. What may happen is
//! decided by `core::handoff`; the functions here run inside the caller's transaction, lock what
//! they change in the order of receipts, and change counters last, so that none waits in a circle.

mod claim;
mod end;
mod expire;
mod give_up;
mod idle;
mod leases;
mod record;
mod repair;
mod replay;
mod settle;
mod sql;
mod waiting;

pub use claim::{Claim, Claimed, Lease, claim};
pub(crate) use end::{End, end, held_in_state};
pub use expire::{Expired, expire, with_run_out_leases};
pub(crate) use give_up::{end_all, give_up};
pub use idle::{Idle, idle};
pub use leases::{Extension, LeaseAck, LeaseNack, ack, extend, nack};
pub use record::{AttemptRecord, HandoffRecord, attempts_of_receipt, handoffs_of_receipt};
pub use repair::{Repair, Repaired, repair};
pub use replay::{NewReplay, ReplayRecord, replay, replays_by_id, replays_latest, replays_of_receipt};
pub use settle::{NewSettlement, SettlementRecord, settle, settlements_of_receipt};
#[cfg(test)]
pub(crate) use sql::ALL;
pub use waiting::{LOOKED_AT_MAX, Standing, WaitingHandoff, states_of_receipts, waiting_for_a_person};

#[cfg(test)]
pub(crate) mod tests;
