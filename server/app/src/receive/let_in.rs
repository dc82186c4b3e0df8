//! Who is let in before the body is read: the endpoint's and the tenant's state, and the rates that
//! administrators set. A rate is kept by each node for itself, in memory: no delivery may cost a write
//! because somebody counts. What is refused here is counted for the tenant, by reason.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use restante_core::rate::Pace;
use restante_core::tenant_limits::Limited;
use restante_core::time::Timestamp;
use restante_core::verify::Reply;
use uuid::Uuid;

use super::target::Closed;
use super::{Target, answer};
use crate::{App, figures};

/// Tenants and endpoints whose pace is kept. Beyond that those that are at an even pace are forgotten, then all.
const PACES_MAX: usize = 50_000;

/// The paces of tenants and endpoints that have a rate.
#[derive(Debug, Default)]
pub struct Paces {
    known: Mutex<HashMap<Uuid, Pace>>,
}

impl Paces {
    fn admit(&self, whose: Uuid, now: Timestamp, per_minute: u64) -> Result<(), u64> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= PACES_MAX && !known.contains_key(&whose) {
            known.retain(|_, pace| !pace.is_over(now));
            if known.len() >= PACES_MAX {
                known.clear();
            }
        }
        known.entry(whose).or_default().admit(now, per_minute)
    }
}

impl App {
    /// Lets a delivery in to have its body read, and counts it for the rates.
    ///
    /// # Errors
    /// How it is answered when it isn't: a probe, an endpoint that takes none now, too many of them.
    pub fn let_in(&self, target: &Target, method: &str, at: Timestamp) -> Result<(), Reply> {
        if let Some(reply) = target.gate(method) {
            match target.closed() {
                Some(Closed::Suspended) if reply.status != 200 => self.refuse(target, "suspended", at),
                Some(Closed::Full) if reply.status != 200 => self.refuse(target, "full", at),
                _ => {}
            }
            return Err(reply);
        }
        for (what, whose) in [
            (Limited::EndpointDeliveriesPerMinute, target.endpoint.0),
            (Limited::DeliveriesPerMinute, target.tenant.0),
        ] {
            let Some(per_minute) = target.limits.get(what) else { continue };
            if let Err(seconds) = self.paces.admit(whose, at, per_minute) {
                self.refuse(target, "rate", at);
                return Err(answer::too_many(seconds));
            }
        }
        Ok(())
    }

    fn refuse(&self, target: &Target, why: &'static str, at: Timestamp) {
        self.refusals.count(target, why, at);
        figures::rejected(why);
    }
}
