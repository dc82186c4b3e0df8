//! What a tenant is made of: itself, its people, keys, endpoints with their secrets, API keys, kept
//! answers and the audit log. Each function runs inside the caller's transaction, so that a change
//! and its audit row stand or fall together; each takes the tenant, which comes from the
//! credential alone. Nothing here decides a rule, and nothing sees a secret in clear.

pub mod actors;
pub mod api_keys;
pub mod audit;
pub mod devices;
pub mod endpoints;
pub mod grants;
pub mod idempotency;
pub mod instance_audit;
pub mod instance_settings;
pub mod invites;
pub mod links;
mod lookups;
pub mod member_list;
pub mod members;
pub mod people;
pub mod receiving;
pub mod sealed_secrets;
pub mod second_factors;
pub mod secrets;
pub mod sessions;
pub mod tenant_changes;
pub mod tenant_keys;
pub mod tenant_limits;
pub mod tenant_list;
pub mod tenants;
pub mod users;

#[cfg(test)]
use crate::engine::Sql;

/// The statements of every file here.
#[cfg(test)]
pub(crate) fn all_statements() -> impl Iterator<Item = &'static Sql> {
    [
        actors::ALL,
        api_keys::ALL,
        audit::ALL,
        devices::ALL,
        endpoints::ALL,
        grants::ALL,
        idempotency::ALL,
        instance_audit::ALL,
        instance_settings::ALL,
        invites::ALL,
        links::ALL,
        lookups::ALL,
        member_list::ALL,
        members::ALL,
        people::ALL,
        receiving::ALL,
        sealed_secrets::ALL,
        second_factors::ALL,
        secrets::ALL,
        sessions::ALL,
        tenant_changes::ALL,
        tenant_keys::ALL,
        tenant_limits::ALL,
        tenant_list::ALL,
        tenants::ALL,
        users::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}
