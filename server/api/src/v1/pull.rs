//! `/v1/consumers/{name}/claim` and its siblings: events under leases.

use std::fmt;

use axum::extract::State;
use restante_app::App;
use restante_app::claim::{Ack, Claim, LeaseAnswer, NackOne};
use restante_core::handoff::{LeaseResult, Nack};
use restante_core::time::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::event_answer::EventAnswer;
use crate::extract::{Caller, Json, JsonOrEmpty, Path};
use crate::problem::Result;
use crate::server::HangUp;
use crate::state::Api;

/// What a claim means when it doesn't say.
const MAX_DEFAULT: u32 = 50;
const LEASE_SECONDS_DEFAULT: u32 = 60;

pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(claim))
        .routes(routes!(ack))
        .routes(routes!(nack))
        .routes(routes!(extend))
}

/// What a claim asks for. All of it may be left out.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClaimRequest {
    /// The version of the application; kept on the attempt.
    handler_version: Option<String>,
    /// Events at most: 1 to 500.
    #[schema(default = 50)]
    max: Option<u32>,
    /// How long the leases run: 1 to 43200.
    #[schema(default = 60)]
    lease_seconds: Option<u32>,
    /// How long to wait for something to come: 0 to 30.
    #[schema(default = 0)]
    wait_seconds: Option<u32>,
}

/// Events, each under a lease of its own.
#[derive(Serialize, ToSchema)]
#[schema(as = Claimed)]
pub(crate) struct ClaimAnswer {
    /// In the order in which they fell due; at most 8 MiB of bodies, so fewer than `max` doesn't mean
    /// that nothing is left.
    events: Vec<EventAnswer>,
    /// With an empty list: how many events others hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    leased: Option<u64>,
    /// With an empty list: when the next event becomes visible, if nothing comes before; null for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    next_at: Option<Option<Timestamp>>,
    /// With an empty list: whether the consumer is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<bool>,
}

/// Leases to be acked, each a text or an object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckRequest {
    /// At most 1,000.
    leases: Vec<OneOf<AckOne>>,
}

/// A lease with what is known of the work.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckOne {
    lease: String,
    /// The id of what was done elsewhere; cut at 255 bytes.
    #[serde(default)]
    remote_operation_id: Option<String>,
    /// A note for people; cut at 2,000 bytes.
    #[serde(default)]
    note: Option<String>,
}

/// Leases to be given back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NackRequest {
    /// At most 1,000.
    leases: Vec<OneOf<NackOneRequest>>,
}

/// A lease with what went wrong.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NackOneRequest {
    lease: String,
    /// What is asked for.
    #[serde(default)]
    outcome: NackOutcome,
    /// When to retry; null leaves it to the backoff, from 5 seconds to an hour.
    #[serde(default)]
    retry_in_seconds: Option<u32>,
    /// What went wrong, for people; cut at 2,000 bytes.
    #[serde(default)]
    error: Option<String>,
    /// The id of what was done elsewhere; cut at 255 bytes.
    #[serde(default)]
    remote_operation_id: Option<String>,
}

/// What a nack asks for.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NackOutcome {
    /// Another attempt.
    #[default]
    Retry,
    /// None: it will never work. It waits for a person.
    Failed,
    /// A remote effect may have happened. It waits for a person.
    Uncertain,
}

/// Leases to be extended.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendRequest {
    /// At most 1,000.
    leases: Vec<OneOf<ExtendOne>>,
    /// How long they run from now on: 1 to 43200. A lease lives at most seven days from its claim.
    #[serde(default)]
    #[schema(default = 60)]
    lease_seconds: Option<u32>,
}

/// A lease.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendOne {
    lease: String,
}

/// What became of each lease, in order.
#[derive(Serialize, ToSchema)]
#[schema(as = LeaseResults)]
pub(crate) struct LeaseResults {
    results: Vec<OneResult>,
}

/// What became of a lease.
#[derive(Serialize, ToSchema)]
#[schema(as = LeaseResult)]
pub(crate) struct OneResult {
    lease: String,
    /// `acked`, `retried`, `failed`, `uncertain`, `extended`; `expired` when it ran out and nothing was
    /// changed; `unknown` when there is no such lease at this consumer.
    #[schema(value_type = String, example = "acked")]
    status: LeaseResult,
    /// Of a lease that was extended: when it runs out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    lease_expires_at: Option<Timestamp>,
}

impl From<Vec<LeaseAnswer>> for LeaseResults {
    fn from(answers: Vec<LeaseAnswer>) -> Self {
        let one = |LeaseAnswer { lease, result, expires_at }| OneResult {
            lease,
            status: result,
            lease_expires_at: expires_at,
        };
        Self { results: answers.into_iter().map(one).collect() }
    }
}

/// A lease as a plain text, or an object that says more. An enum would take both as well, and lose
/// the pointer to the field at fault.
#[derive(Debug, ToSchema)]
#[serde(untagged)]
pub(crate) enum OneOf<T> {
    /// The lease alone.
    Lease(String),
    /// With more.
    Object(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOf<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an object")
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<OneOf<T>, E> {
                Ok(OneOf::Lease(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<OneOf<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OneOf::Object)
            }
        }

        deserializer.deserialize_any(Either(std::marker::PhantomData))
    }
}

/// Claims events: each comes with a lease, and nobody else gets it while the lease runs.
#[utoipa::path(
    post,
    path = "/v1/consumers/{name}/claim",
    tag = "pull",
    params(("name" = String, Path, description = "The consumer.")),
    request_body(content = Option<ClaimRequest>),
    responses((status = 200, description = "The events; none when nothing came in time.", body = ClaimAnswer))
)]
pub(crate) async fn claim(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
    HangUp(hung_up): HangUp,
    JsonOrEmpty(asked): JsonOrEmpty<ClaimRequest>,
) -> Result<Json<ClaimAnswer>> {
    let asked = Claim {
        max: asked.max.unwrap_or(MAX_DEFAULT),
        lease_seconds: asked.lease_seconds.unwrap_or(LEASE_SECONDS_DEFAULT),
        wait_seconds: asked.wait_seconds.unwrap_or(0),
        handler_version: asked.handler_version,
    };
    let claimed = app.claim(&by, &name, asked, hung_up).await?;
    Ok(Json(ClaimAnswer {
        events: claimed.events.into_iter().map(EventAnswer::claimed).collect(),
        leased: claimed.idle.map(|idle| idle.leased),
        next_at: claimed.idle.map(|idle| idle.next_at),
        paused: claimed.idle.map(|idle| idle.paused),
    }))
}

/// Acks leases: their events are done. The same ack again answers the same and changes nothing.
#[utoipa::path(
    post,
    path = "/v1/consumers/{name}/ack",
    tag = "pull",
    params(("name" = String, Path, description = "The consumer.")),
    request_body = AckRequest,
    responses((status = 200, description = "`acked`, `expired` or `unknown`, for each.", body = LeaseResults))
)]
pub(crate) async fn ack(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
    Json(asked): Json<AckRequest>,
) -> Result<Json<LeaseResults>> {
    let leases = asked
        .leases
        .into_iter()
        .map(|one| match one {
            OneOf::Lease(lease) => Ack { lease, ..Ack::default() },
            OneOf::Object(AckOne { lease, remote_operation_id, note }) => {
                Ack { lease, remote_operation_id, note }
            }
        })
        .collect();
    Ok(Json(app.ack(&by, &name, leases).await?.into()))
}

/// Gives leases back: for another attempt, as failed, or as uncertain.
#[utoipa::path(
    post,
    path = "/v1/consumers/{name}/nack",
    tag = "pull",
    params(("name" = String, Path, description = "The consumer.")),
    request_body = NackRequest,
    responses((
        status = 200,
        description = "`retried`, `failed`, `uncertain`, `expired` or `unknown`, for each.",
        body = LeaseResults
    ))
)]
pub(crate) async fn nack(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
    Json(asked): Json<NackRequest>,
) -> Result<Json<LeaseResults>> {
    let leases = asked
        .leases
        .into_iter()
        .map(|one| match one {
            OneOf::Lease(lease) => NackOne {
                lease,
                asked: Nack::Retry,
                retry_in_seconds: None,
                error: None,
                remote_operation_id: None,
            },
            OneOf::Object(one) => NackOne {
                lease: one.lease,
                asked: match one.outcome {
                    NackOutcome::Retry => Nack::Retry,
                    NackOutcome::Failed => Nack::Failed,
                    NackOutcome::Uncertain => Nack::Uncertain,
                },
                retry_in_seconds: one.retry_in_seconds,
                error: one.error,
                remote_operation_id: one.remote_operation_id,
            },
        })
        .collect();
    Ok(Json(app.nack(&by, &name, leases).await?.into()))
}

/// Extends leases, for work that takes longer.
#[utoipa::path(
    post,
    path = "/v1/consumers/{name}/extend",
    tag = "pull",
    params(("name" = String, Path, description = "The consumer.")),
    request_body = ExtendRequest,
    responses((status = 200, description = "`extended`, `expired` or `unknown`, for each.", body = LeaseResults))
)]
pub(crate) async fn extend(
    State(app): State<App>,
    Caller(by): Caller,
    Path(name): Path<String>,
    Json(asked): Json<ExtendRequest>,
) -> Result<Json<LeaseResults>> {
    let leases = asked
        .leases
        .into_iter()
        .map(|one| match one {
            OneOf::Lease(lease) | OneOf::Object(ExtendOne { lease }) => lease,
        })
        .collect();
    let lease_seconds = asked.lease_seconds.unwrap_or(LEASE_SECONDS_DEFAULT);
    Ok(Json(app.extend(&by, &name, leases, lease_seconds).await?.into()))
}
