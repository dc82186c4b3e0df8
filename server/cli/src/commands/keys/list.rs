//! `restante keys list`.

use restante_app::keys::{MasterKeyUse, TenantKeyShown};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::instance::Instance;
use crate::say;

pub(super) async fn run(instance: &Instance, tenant: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let app = &instance.app;
    let of_tenant = match tenant {
        Some(slug) => Some((slug, app.keys_of_tenant(app.tenant_of_slug(slug).await?).await?)),
        None => None,
    };
    let (master_keys, totals) = app.master_keys_in_use().await?;
    let servers = app.live_nodes().await?;
    if as_json {
        let servers = servers.iter().map(|node| {
            let keys: Vec<String> = node.master_keys.iter().map(ToString::to_string).collect();
            json!({ "id": node.id.to_string(), "seen_at": node.seen_at, "version": node.version, "master_keys": keys })
        });
        let totals = totals
            .iter()
            .map(|((class, state), keys)| json!({ "class": class.as_str(), "state": state, "keys": keys }));
        let mut shown = json!({
            "key_file": instance.master_key_file.display().to_string(),
            "master_keys": master_keys.iter().map(master_key).collect::<Vec<_>>(),
            "tenant_keys": totals.collect::<Vec<_>>(),
            "servers": servers.collect::<Vec<_>>(),
        });
        if let Some((slug, keys)) = of_tenant {
            shown["tenant"] =
                json!({ "slug": slug, "keys": keys.iter().map(tenant_key).collect::<Vec<_>>() });
        }
        say::result(&shown.to_string());
        return Ok(());
    }
    say::result(&format!("Master keys, in {}:", instance.master_key_file.display()));
    for key in &master_keys {
        let state = match (key.active, key.loaded) {
            (true, _) => "active: it wraps new keys",
            (false, true) => "loaded: it only unwraps",
            (false, false) => "not loaded",
        };
        let MasterKeyUse { id, tenant_keys, people, .. } = key;
        say::result(&format!("  {id}  {state}; wraps {tenant_keys} keys of tenants and {people} of people"));
    }
    say::result("Keys of tenants:");
    for ((class, state), keys) in &totals {
        say::result(&format!("  {:<8} {state:<13} {keys}", class.as_str()));
    }
    if let Some((slug, keys)) = of_tenant {
        say::result(&format!("Keys of the tenant {slug}:"));
        for key in keys {
            let wrapped_by = key.wrapped_by.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
            let seals = if key.seals { ", seals now" } else { "" };
            say::result(&format!(
                "  {:<8} version {:<4} {:<13} made {}, wrapped by {wrapped_by}{seals}",
                key.class.as_str(),
                key.version,
                key.state.as_str(),
                key.created_at
            ));
        }
    }
    say::result("Running servers:");
    if servers.is_empty() {
        say::result("  none");
    }
    for node in servers {
        let mut keys = node.master_keys.iter().map(ToString::to_string);
        let active = keys.next().unwrap_or_default();
        let others: Vec<String> = keys.collect();
        let others = if others.is_empty() { "no other".to_owned() } else { others.join(", ") };
        say::result(&format!("  {}  wraps by {active}, has loaded {others}", node.id));
    }
    Ok(())
}

fn master_key(key: &MasterKeyUse) -> Value {
    json!({
        "id": key.id.to_string(), "active": key.active, "loaded": key.loaded,
        "tenant_keys": key.tenant_keys, "people": key.people,
    })
}

fn tenant_key(key: &TenantKeyShown) -> Value {
    json!({
        "class": key.class.as_str(), "version": key.version, "state": key.state.as_str(), "seals": key.seals,
        "created_at": key.created_at, "wrapped_by": key.wrapped_by.map(|id| id.to_string()),
    })
}
