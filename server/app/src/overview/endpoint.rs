//! One endpoint over time.

use restante_core::id::EndpointId;
use restante_core::problem::Problem;
use restante_core::time::Timestamp;
use restante_store::StoreError;
use restante_store::stats::{self, Counted, Grain};

use super::{EndpointOverview, Slots, USUAL_SECONDS, silence, usual};
use crate::stats::Window;
use crate::{App, By};

/// What came in by an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointCourse {
    /// What it looks back on.
    pub window: Window,
    /// When it was made.
    pub now: Timestamp,
    /// What came in, slot by slot.
    pub slots: Slots,
    /// The endpoint at a glance.
    pub overview: EndpointOverview,
}

impl App {
    /// An endpoint of the caller's tenant over time.
    ///
    /// # Errors
    /// Not found.
    pub async fn endpoint_course(
        &self,
        by: &By,
        id: EndpointId,
        window: Window,
    ) -> Result<EndpointCourse, StoreError> {
        let (tenant, now) = (by.tenant(), self.clock.now());
        let shape = Slots::shape(window, now);
        let (hours, fine, seen) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let seen = stats::endpoint_seen(conn, tenant, id).await?;
                    let seen = seen.ok_or_else(|| Problem::not_found("endpoint"))?;
                    let since = now.plus_seconds(-USUAL_SECONDS);
                    let hours = stats::course(conn, tenant, Grain::Hour, since, Some(id.0)).await?;
                    let fine = match shape.grain {
                        Grain::Minute => {
                            stats::course(conn, tenant, Grain::Minute, shape.since, Some(id.0)).await?
                        }
                        Grain::Hour => hours.iter().filter(|one| one.at >= shape.since).cloned().collect(),
                    };
                    Ok((hours, fine, seen))
                })
            })
            .await?;
        let mut slots = Slots::new(shape);
        fine.iter().for_each(|counted| slots.add(counted));
        let hours: Vec<&Counted> = hours.iter().collect();
        let total = slots.total();
        let overview = EndpointOverview {
            accepted: total.accepted,
            duplicates: total.duplicates,
            refused: total.refused,
            repeats: slots.repeats(),
            usual_repeats: usual::repeats(&hours, now),
            silence: silence::of(&hours, seen.newest, now).filter(|_| seen.enabled),
            id,
            name: seen.name,
            provider: seen.provider,
            enabled: seen.enabled,
            newest: seen.newest,
        };
        Ok(EndpointCourse { window, now, slots, overview })
    }
}
