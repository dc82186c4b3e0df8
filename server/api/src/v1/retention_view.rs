//! Retention as programs see it: what is in force and where it comes from, reports, holds, runs.

use std::collections::BTreeMap;

use restante_app::retention::{
    EndpointPlan, Erased, Hold, HoldRow, LineCounts, Report, RunLine, RunRow, TenantRetention,
};
use restante_core::id::{EndpointId, HoldId, ReceiptId, RunId};
use restante_core::retention::{Bounds, Policy, Resolved, Window};
use restante_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// What a tenant keeps how long.
#[derive(Serialize, ToSchema)]
#[schema(as = Retention)]
pub(crate) struct RetentionAnswer {
    /// What is in force where no endpoint and no provider says otherwise.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    values: Map<String, Value>,
    /// For each value the level that it comes from: `tenant`, `instance` or `product`.
    #[schema(value_type = Object)]
    from: Map<String, Value>,
    /// What the tenant says itself.
    #[schema(value_type = Object)]
    own: Policy,
    /// What it says for single providers.
    #[schema(value_type = Object)]
    providers: BTreeMap<String, Policy>,
    /// Within what the instance allows it.
    #[schema(value_type = Object)]
    bounds: Bounds,
}

/// The values of what is in force, and where they come from.
fn split(resolved: &Resolved) -> (Map<String, Value>, Map<String, Value>) {
    let (mut values, mut from) = (Map::new(), Map::new());
    if let Value::Object(all) = json!(resolved) {
        for (name, sourced) in all {
            values.insert(name.clone(), sourced["value"].clone());
            from.insert(name, sourced["from"].clone());
        }
    }
    (values, from)
}

impl From<TenantRetention> for RetentionAnswer {
    fn from(found: TenantRetention) -> Self {
        let (values, from) = split(&found.in_force);
        let providers = found.providers.into_iter().collect();
        Self { values, from, own: found.own, providers, bounds: found.bounds }
    }
}

/// What holds for an endpoint.
#[derive(Serialize, ToSchema)]
#[schema(as = EndpointRetention)]
pub(crate) struct EndpointRetentionAnswer {
    /// What is in force.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    values: Map<String, Value>,
    /// For each value the level that it comes from: `endpoint`, `provider`, `tenant`, `instance` or `product`.
    #[schema(value_type = Object)]
    from: Map<String, Value>,
    /// How long keys are kept by all of it, in seconds.
    key_seconds: u64,
    /// The window that keeps keys longer than `receipt_days`.
    #[schema(value_type = Option<Object>)]
    raised_by: Option<Window>,
    /// The window that an administrator has overridden, with the reason.
    #[schema(value_type = Option<Object>)]
    overridden: Option<Value>,
    /// In which windows an event may come again.
    #[schema(value_type = Vec<Object>)]
    windows: Vec<Window>,
    /// Keys of events that came from then on stay while a secret of their day verifies, if the scheme signs no id or no
    /// time; null: no secret verifies.
    #[schema(value_type = Option<String>, format = DateTime)]
    secret_since: Option<Timestamp>,
    /// Whether its events are held.
    held: bool,
}

impl From<EndpointPlan> for EndpointRetentionAnswer {
    fn from(plan: EndpointPlan) -> Self {
        let (values, from) = split(&plan.resolved);
        let overridden = plan.overridden.map(|one| {
            json!({
                "receipt_days": one.receipt_days, "reason": one.reason, "at": one.created_at,
                "window": plan.life.overridden,
            })
        });
        Self {
            values,
            from,
            key_seconds: plan.life.seconds,
            raised_by: plan.life.raised_by,
            overridden,
            windows: plan.windows,
            secret_since: plan.secrets.oldest_of_provider,
            held: plan.held,
        }
    }
}

/// What goes and what stays.
#[derive(Serialize, ToSchema)]
#[schema(as = RetentionLine)]
pub(crate) struct LineAnswer {
    #[schema(value_type = String, example = "ep_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    endpoint: EndpointId,
    name: String,
    /// Events whose payload goes.
    payloads: u64,
    /// What their payloads take, in bytes, sealed.
    payload_bytes: u64,
    /// Events whose key goes.
    keys: u64,
    /// Handoffs that nobody has processed and that are given up.
    expired: u64,
    /// What stays although its time is over, by reason: `pending`, `leased`, `failed`, `uncertain`, `repair`, `hold`,
    /// `shared`, `backfill`, `secret`, `sent_again`.
    #[schema(value_type = Object)]
    kept: BTreeMap<String, u64>,
}

impl LineAnswer {
    fn new(endpoint: EndpointId, name: String, counts: LineCounts, kept: BTreeMap<String, u64>) -> Self {
        let LineCounts { payloads, payload_bytes, keys, expired } = counts;
        Self { endpoint, name, payloads, payload_bytes, keys, expired, kept }
    }
}

impl From<RunLine> for LineAnswer {
    fn from(line: RunLine) -> Self {
        Self::new(line.endpoint, line.name, line.counts, line.kept)
    }
}

/// What a run would remove now.
#[derive(Serialize, ToSchema)]
#[schema(as = RetentionPreview)]
pub(crate) struct PreviewAnswer {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    payloads: u64,
    payload_bytes: u64,
    keys: u64,
    expired: u64,
    endpoints: Vec<LineAnswer>,
    /// Events that are looked at for each endpoint; where more are due, the run removes more than is told here.
    looks_at: u64,
}

impl From<Report> for PreviewAnswer {
    fn from(report: Report) -> Self {
        let LineCounts { payloads, payload_bytes, keys, expired } = report.counts;
        let endpoints = report.endpoints.into_iter().map(|one| {
            let kept = one.kept.into_iter().map(|(why, count)| (why.as_str().to_owned(), count)).collect();
            LineAnswer::new(one.endpoint, one.name, one.counts, kept)
        });
        Self {
            at: report.at,
            payloads,
            payload_bytes,
            keys,
            expired,
            endpoints: endpoints.collect(),
            looks_at: restante_app::retention::PREVIEW_LOOK_MAX,
        }
    }
}

/// A run.
#[derive(Serialize, ToSchema)]
#[schema(as = RetentionRun)]
pub(crate) struct RunAnswer {
    #[schema(value_type = String)]
    id: RunId,
    /// `schedule`, `command` or `person`.
    cause: String,
    /// The time that it took for now.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// `done`, or why it ended before that; null while it goes on.
    outcome: Option<String>,
    endpoints: Vec<LineAnswer>,
}

impl From<(RunRow, Vec<RunLine>)> for RunAnswer {
    fn from((run, lines): (RunRow, Vec<RunLine>)) -> Self {
        Self {
            id: RunId(run.id),
            cause: run.cause,
            at: run.at,
            started_at: run.started_at,
            finished_at: run.finished_at,
            outcome: run.outcome,
            endpoints: lines.into_iter().map(LineAnswer::from).collect(),
        }
    }
}

/// The newest runs.
#[derive(Serialize, ToSchema)]
#[schema(as = RetentionRuns)]
pub(crate) struct RunsAnswer {
    pub(crate) data: Vec<RunAnswer>,
}

/// A hold.
#[derive(Serialize, ToSchema)]
#[schema(as = Hold)]
pub(crate) struct HoldAnswer {
    #[schema(value_type = String, example = "hld_01kbrs6q2j8a1q3f5z0ry4t7wd")]
    id: HoldId,
    /// The endpoint whose events are held; null with no event: everything of the tenant.
    #[schema(value_type = Option<String>)]
    endpoint: Option<EndpointId>,
    #[schema(value_type = Option<String>)]
    event: Option<ReceiptId>,
    reason: String,
    created_by: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    released_at: Option<Timestamp>,
}

impl From<HoldRow> for HoldAnswer {
    fn from(row: HoldRow) -> Self {
        let HoldRow { id, endpoint, receipt, reason, created_by, created_at, released_at, .. } = row;
        Self { id: HoldId(id), endpoint, event: receipt, reason, created_by, created_at, released_at }
    }
}

impl From<Hold> for HoldAnswer {
    fn from(hold: Hold) -> Self {
        let Hold { id, endpoint, event, reason, created_by, created_at } = hold;
        Self { id, endpoint, event, reason, created_by, created_at, released_at: None }
    }
}

/// What was erased.
#[derive(Serialize, ToSchema)]
#[schema(as = Erased)]
pub(crate) struct ErasedAnswer {
    /// Events whose payload is erased.
    events: u64,
    bytes: u64,
    /// Handoffs that ended because of it.
    handoffs: u64,
    /// Events that stay because they are held.
    held: u64,
    /// Kept samples of refused requests that are erased.
    refusals: u64,
    /// Whether nothing is left; otherwise the same call goes on.
    complete: bool,
    /// What it does not reach.
    not_reached: Vec<&'static str>,
}

impl ErasedAnswer {
    pub(crate) fn new(erased: Erased, complete: bool) -> Self {
        let Erased { events, bytes, handoffs, held, refusals, .. } = erased;
        let not_reached = restante_app::retention::NOT_REACHED.to_vec();
        Self { events, bytes, handoffs, held, refusals, complete, not_reached }
    }
}
