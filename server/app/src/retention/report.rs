//! What a run did, or would do.

use std::collections::BTreeMap;

use restante_core::id::{EndpointId, TenantId};
use restante_core::time::Timestamp;
use restante_store::retention::{Kept, LineCounts};
use serde_json::{Value, json};
use uuid::Uuid;

/// What a run did, or with `dry_run` would do.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Its id in the record; `None` where nothing is recorded.
    pub run: Option<Uuid>,
    /// The time that it took for now.
    pub at: Timestamp,
    /// Whether it only looked.
    pub dry_run: bool,
    /// What was removed in all.
    pub counts: LineCounts,
    /// What stayed although its time was over.
    pub kept: BTreeMap<Kept, u64>,
    /// The same by endpoint, as far as there is something to tell.
    pub endpoints: Vec<EndpointReport>,
    /// Lines of logs, samples, invitations and records that went.
    pub old_rows: u64,
    /// Pages of the SQLite file that were given back.
    pub pages_given_back: u64,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// Why it ended before everything was looked at.
    pub stopped: Option<String>,
}

/// What a run did to the events of one endpoint.
#[derive(Debug, Clone)]
pub struct EndpointReport {
    /// Whose it is.
    pub tenant: TenantId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its name.
    pub name: String,
    /// What was removed.
    pub counts: LineCounts,
    /// What stayed although its time was over.
    pub kept: BTreeMap<Kept, u64>,
}

/// Counts as JSON.
pub(super) fn counts_json(counts: LineCounts, kept: &BTreeMap<Kept, u64>) -> Value {
    let kept: serde_json::Map<String, Value> =
        kept.iter().map(|(why, count)| (why.as_str().to_owned(), json!(count))).collect();
    json!({
        "payloads": counts.payloads,
        "payload_bytes": counts.payload_bytes,
        "keys": counts.keys,
        "expired": counts.expired,
        "kept": kept,
    })
}

impl Report {
    /// As JSON, for scripts.
    pub fn json(&self) -> Value {
        let endpoints: Vec<Value> = self
            .endpoints
            .iter()
            .map(|one| {
                let mut line = counts_json(one.counts, &one.kept);
                line["tenant"] = json!(one.tenant);
                line["endpoint"] = json!(one.endpoint);
                line["name"] = json!(one.name);
                line
            })
            .collect();
        let mut report = counts_json(self.counts, &self.kept);
        report["run"] = json!(self.run.map(|run| restante_core::id::RunId(run).to_string()));
        report["at"] = json!(self.at);
        report["dry_run"] = json!(self.dry_run);
        report["endpoints"] = json!(endpoints);
        report["old_rows"] = json!(self.old_rows);
        report["pages_given_back"] = json!(self.pages_given_back);
        report["milliseconds"] = json!(self.milliseconds);
        report["stopped"] = json!(self.stopped);
        report
    }

    pub(super) fn add(&mut self, line: EndpointReport) {
        let LineCounts { payloads, payload_bytes, keys, expired } = line.counts;
        self.counts.payloads += payloads;
        self.counts.payload_bytes += payload_bytes;
        self.counts.keys += keys;
        self.counts.expired += expired;
        for (why, count) in &line.kept {
            *self.kept.entry(*why).or_default() += count;
        }
        // A run over ten thousand endpoints still has a report that can be read.
        if self.endpoints.len() < 1_000 && (!line.counts.is_empty() || !line.kept.is_empty()) {
            self.endpoints.push(line);
        }
    }
}
