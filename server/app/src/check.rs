//! The operator's check of an instance: whether the database is sound, every key unwraps, samples of what is
//! sealed open, and what belongs together is there. It changes nothing and may run beside a server.

use std::collections::{BTreeMap, HashSet};

use restante_core::id::TenantId;
use restante_core::seal::{KeyClass, KeyState, Place, SealError, TenantKeyset, WrappedKey};
use restante_store::StoreError;
use restante_store::check::{self, Looked, LookedThrough};
use restante_store::control::sealed_secrets::{self, SECRET_COLUMNS};

use crate::App;
use crate::keys::TenantKeyRows as _;
use crate::people::second_factor::{KEY_VERSION, owner};

/// Rows of one step.
const ROWS_PER_STEP: u32 = 1_000;
/// Values of each kind that are opened of a tenant.
const SAMPLES_PER_TENANT: u32 = 20;
/// Faults of one kind that are named; the others are counted.
const NAMED_MAX: usize = 10;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// How many of each there are.
    pub counts: BTreeMap<&'static str, u64>,
    /// Sealed values that were opened.
    pub opened: u64,
    /// Sealed values whose key was destroyed on purpose.
    pub erased: u64,
    /// What is wrong, in sentences.
    pub faults: Vec<String>,
    /// Whether the database has looked at its own file. PostgreSQL has tools of its own for that.
    pub file_checked: bool,
}

/// Faults of one kind.
struct Kind<'r> {
    report: &'r mut CheckReport,
    found: usize,
}

impl Kind<'_> {
    fn add(&mut self, fault: impl FnOnce() -> String) {
        self.found += 1;
        if self.found <= NAMED_MAX {
            self.report.faults.push(fault());
        }
    }

    fn end(self, what: &str) {
        if self.found > NAMED_MAX {
            self.report.faults.push(format!("{} more {what}", self.found - NAMED_MAX));
        }
    }
}

impl App {
    /// Looks through everything. `progress` hears what is looked at.
    ///
    /// # Errors
    /// What kept it from looking; what it finds wrong stands in the report.
    pub async fn check(&self, progress: &mut impl FnMut(&str)) -> Result<CheckReport, StoreError> {
        let mut report = CheckReport::default();
        progress("the database file");
        if let Some(faults) = self.store.faults_of_the_file().await? {
            report.file_checked = true;
            report.faults.extend(faults);
        }
        progress("the keys");
        let tenants = self.check_keys(&mut report).await?;
        progress("samples of what is sealed");
        for tenant in &tenants {
            self.check_samples(*tenant, &mut report).await?;
        }
        for (what, name, lacks) in [
            (LookedThrough::Payloads, "payloads", "belongs to no receipt"),
            (LookedThrough::Receipts, "receipts", "says that its payload is stored, and it is not there"),
            (LookedThrough::Handoffs, "handoffs", "has no receipt or no consumer"),
        ] {
            progress(name);
            self.look_through(what, name, lacks, &tenants, &mut report).await?;
        }
        Ok(report)
    }

    /// Opens samples of every tenant; for a copy that has just been made.
    ///
    /// # Errors
    /// What kept it from looking.
    pub async fn check_sealed(&self) -> Result<CheckReport, StoreError> {
        let mut report = CheckReport::default();
        for tenant in self.check_keys(&mut report).await? {
            self.check_samples(tenant, &mut report).await?;
        }
        Ok(report)
    }

    /// Unwraps every key. Gives the tenants that have theirs; one without is being removed.
    async fn check_keys(&self, report: &mut CheckReport) -> Result<Vec<TenantId>, StoreError> {
        let ring = self.keys.ring();
        let mut tenants = Vec::new();
        let (mut keys, mut people) = (0, 0);
        let mut kind = Kind { report, found: 0 };
        let mut after = None;
        loop {
            let page = self.store.page(after, ROWS_PER_STEP).await?;
            let Some((tenant, last)) = page.last() else { break };
            after = Some((*tenant, last.class, last.version));
            for (tenant, row) in page {
                keys += 1;
                if row.state == KeyState::Destroyed {
                    continue;
                }
                if row.class == KeyClass::Payload && row.state == KeyState::Active {
                    tenants.push(tenant);
                }
                let opened = WrappedKey::parse(&row.wrapped)
                    .and_then(|wrapped| ring.unwrap(tenant, row.version, &wrapped).map(|_| ()));
                if let Err(cause) = opened {
                    let (class, version) = (row.class.as_str(), row.version);
                    kind.add(|| format!("the {class} key {version} of {tenant} does not unwrap: {cause}"));
                }
            }
        }
        let mut after = None;
        loop {
            let page = self.store.people_page(after, ROWS_PER_STEP).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            for (user, wrapped) in page {
                people += 1;
                let opened = WrappedKey::parse(&wrapped)
                    .and_then(|wrapped| ring.unwrap(owner(user), KEY_VERSION, &wrapped).map(|_| ()));
                if let Err(cause) = opened {
                    kind.add(|| format!("the key of the second factor of {user} does not unwrap: {cause}"));
                }
            }
        }
        kind.end("keys that do not unwrap");
        report.counts.insert("tenants", tenants.len() as u64);
        report.counts.insert("keys of tenants", keys);
        report.counts.insert("second factors", people);
        Ok(tenants)
    }

    async fn check_samples(&self, tenant: TenantId, report: &mut CheckReport) -> Result<(), StoreError> {
        self.keys.forget(tenant);
        let Ok(keys) = self.keys.of(tenant, &self.store).await else {
            // Said already, with the key at fault.
            return Ok(());
        };
        let payloads =
            self.store.read(move |conn| Box::pin(check::samples(conn, tenant, SAMPLES_PER_TENANT))).await?;
        let mut kind = Kind { report, found: 0 };
        for payload in payloads {
            try_open(&mut kind, &keys, &Place::payload_headers(payload.id), &payload.headers_sealed);
            try_open(&mut kind, &keys, &Place::payload_body(payload.id), &payload.body_sealed);
        }
        for column in SECRET_COLUMNS {
            let page = self
                .store
                .read(move |conn| {
                    Box::pin(sealed_secrets::page(conn, tenant, *column, None, SAMPLES_PER_TENANT))
                })
                .await?;
            for value in page {
                try_open(&mut kind, &keys, &value.place, &value.sealed);
            }
        }
        kind.end("sealed values that do not open");
        Ok(())
    }

    async fn look_through(
        &self,
        what: LookedThrough,
        name: &'static str,
        lacks: &str,
        tenants: &[TenantId],
        report: &mut CheckReport,
    ) -> Result<(), StoreError> {
        // Of a tenant that is being removed some rows have gone already.
        let tenants: HashSet<TenantId> = tenants.iter().copied().collect();
        let mut rows = 0;
        let mut kind = Kind { report, found: 0 };
        let mut after: Option<Looked> = None;
        loop {
            let from = after.take();
            let page = self
                .store
                .read(move |conn| {
                    Box::pin(
                        async move { check::look_through(conn, what, from.as_ref(), ROWS_PER_STEP).await },
                    )
                })
                .await?;
            let Some(last) = page.last().cloned() else { break };
            after = Some(last);
            rows += page.len() as u64;
            for row in page.iter().filter(|row| !row.is_whole && tenants.contains(&row.tenant)) {
                let (one, other) = row.key;
                let key = if one == other { one.to_string() } else { format!("{one}, {other}") };
                kind.add(|| format!("{name}: {key} of {} {lacks}", row.tenant));
            }
        }
        kind.end(name);
        report.counts.insert(name, rows);
        Ok(())
    }
}

fn try_open(kind: &mut Kind<'_>, keys: &TenantKeyset, place: &Place, sealed: &[u8]) {
    match keys.open_secret(place, sealed) {
        Ok(_) => kind.report.opened += 1,
        Err(SealError::KeyDestroyed { .. }) => kind.report.erased += 1,
        Err(cause) => {
            let (column, row) = (place.column().label(), place.row());
            kind.add(|| format!("{column} of {row} does not open: {cause}"));
        }
    }
}
