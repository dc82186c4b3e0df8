//! The cache over a fake and over both databases, and the check at start.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use restante_core::id::{PayloadId, TenantId};
use restante_core::seal::{KeyClass, KeyRing, KeyState, Place, SealError, TenantKeyRow};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::both_engines;
use restante_store::control::{tenant_keys, tenants};
use restante_store::testing::TestClock;
use uuid::Uuid;

use super::*;
use crate::random::Random;

const TENANT: TenantId = TenantId(Uuid::from_u128(1));
const PLACE: Place = Place::payload_body(PayloadId(Uuid::from_u128(2)));
const NONCE: [u8; 24] = [5; 24];

/// Never gives the same byte twice in a row, and the same ones in every run.
struct Counting(AtomicU8);

impl Random for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill_with(|| self.0.fetch_add(1, Ordering::SeqCst));
    }
}

fn counting() -> Counting {
    Counting(AtomicU8::new(0))
}

fn ring(key: u8) -> KeyRing {
    KeyRing::new(&[Secret::new([key; 32])]).unwrap()
}

fn cache(clock: &TestClock) -> TenantKeys {
    TenantKeys::new(ring(1), Arc::new(clock.clone()))
}

#[derive(Default)]
struct Fake {
    rows: Mutex<HashMap<TenantId, Vec<TenantKeyRow>>>,
    loads: AtomicUsize,
}

impl Fake {
    fn with(tenants: impl IntoIterator<Item = TenantId>, keys: &TenantKeys) -> Self {
        let random = counting();
        let rows = tenants.into_iter().map(|tenant| (tenant, keys.create(tenant, &random).1.to_vec()));
        Self { rows: Mutex::new(rows.collect()), loads: AtomicUsize::new(0) }
    }

    fn loads(&self) -> usize {
        self.loads.load(Ordering::SeqCst)
    }

    fn change(&self, tenant: TenantId, change: impl FnOnce(&mut Vec<TenantKeyRow>)) {
        change(self.rows.lock().unwrap().get_mut(&tenant).unwrap());
    }
}

impl TenantKeyRows for Fake {
    async fn of_tenant(&self, tenant: TenantId) -> Result<Vec<TenantKeyRow>, StoreError> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        Ok(self.rows.lock().unwrap().get(&tenant).cloned().unwrap_or_default())
    }

    async fn page(
        &self,
        after: Option<KeyPosition>,
        limit: u32,
    ) -> Result<Vec<(TenantId, TenantKeyRow)>, StoreError> {
        let rows = self.rows.lock().unwrap();
        let all = rows.iter().flat_map(|(tenant, rows)| rows.iter().map(|row| (*tenant, row.clone())));
        let position = |(tenant, row): &(TenantId, TenantKeyRow)| (*tenant, row.class, row.version);
        let mut page: Vec<_> = all.filter(|row| after.is_none_or(|after| position(row) > after)).collect();
        page.sort_by_key(position);
        page.truncate(limit as usize);
        Ok(page)
    }

    async fn people_page(&self, _: Option<UserId>, _: u32) -> Result<Vec<(UserId, Vec<u8>)>, StoreError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn keys_are_asked_for_once_a_minute() {
    let clock = TestClock::default();
    let keys = cache(&clock);
    let rows = Fake::with([TENANT], &keys);
    for (advance, loads) in [(0, 1), (59, 1), (1, 2), (59, 2), (-60, 3), (30, 3)] {
        clock.advance_seconds(advance);
        assert_eq!(keys.of(TENANT, &rows).await.unwrap().tenant(), TENANT);
        assert_eq!(rows.loads(), loads, "after {advance} seconds more");
    }
}

#[tokio::test]
async fn what_one_instance_of_the_cache_sealed_another_opens() {
    let clock = TestClock::default();
    let rows = Fake::with([TENANT], &cache(&clock));
    let sealed = cache(&clock).of(TENANT, &rows).await.unwrap().seal(&PLACE, b"body", NONCE);
    assert_eq!(cache(&clock).of(TENANT, &rows).await.unwrap().open(&PLACE, &sealed).unwrap(), b"body");
}

#[tokio::test]
async fn a_tenant_without_keys_is_no_tenant_and_is_not_remembered() {
    let keys = cache(&TestClock::default());
    let rows = Fake::default();
    for loads in [1, 2] {
        assert!(matches!(keys.of(TENANT, &rows).await, Err(KeysError::NoTenant(TENANT))));
        assert_eq!(rows.loads(), loads);
    }
}

#[tokio::test]
async fn a_destroyed_key_is_gone_at_once_where_it_was_forgotten_and_within_a_minute_elsewhere() {
    let clock = TestClock::default();
    let (here, elsewhere) = (cache(&clock), cache(&clock));
    let rows = Fake::with([TENANT], &here);
    let sealed = here.of(TENANT, &rows).await.unwrap().seal(&PLACE, b"body", NONCE);
    elsewhere.of(TENANT, &rows).await.unwrap();
    let next = here.replacement(TENANT, KeyClass::Payload, 2, &counting());
    rows.change(TENANT, |rows| {
        rows[0].state = KeyState::Destroyed;
        rows[0].wrapped.clear();
        rows.push(next);
    });
    let destroyed = Err(SealError::KeyDestroyed { class: KeyClass::Payload, version: 1 });
    here.forget(TENANT);
    assert_eq!(here.of(TENANT, &rows).await.unwrap().open(&PLACE, &sealed), destroyed);
    assert!(elsewhere.of(TENANT, &rows).await.unwrap().open(&PLACE, &sealed).is_ok());
    clock.advance_seconds(60);
    assert_eq!(elsewhere.of(TENANT, &rows).await.unwrap().open(&PLACE, &sealed), destroyed);
}

/// Rows that were read before `forget` must not be kept after it.
#[tokio::test]
async fn a_load_that_forget_overtakes_is_not_kept() {
    struct Overtaken<'a>(&'a Fake, &'a TenantKeys);

    impl TenantKeyRows for Overtaken<'_> {
        async fn of_tenant(&self, tenant: TenantId) -> Result<Vec<TenantKeyRow>, StoreError> {
            let rows = self.0.of_tenant(tenant).await;
            self.1.forget(tenant);
            rows
        }

        async fn page(
            &self,
            after: Option<KeyPosition>,
            limit: u32,
        ) -> Result<Vec<(TenantId, TenantKeyRow)>, StoreError> {
            self.0.page(after, limit).await
        }

        async fn people_page(
            &self,
            after: Option<UserId>,
            limit: u32,
        ) -> Result<Vec<(UserId, Vec<u8>)>, StoreError> {
            self.0.people_page(after, limit).await
        }
    }

    let keys = cache(&TestClock::default());
    let rows = Fake::with([TENANT], &keys);
    keys.of(TENANT, &Overtaken(&rows, &keys)).await.unwrap();
    keys.of(TENANT, &rows).await.unwrap();
    assert_eq!(rows.loads(), 2);
}

#[tokio::test]
async fn when_the_cache_is_full_the_oldest_makes_room() {
    let clock = TestClock::default();
    let keys = TenantKeys::with_room(ring(1), Arc::new(clock.clone()), 2);
    let [first, second, third] = [1, 2, 3].map(|number| TenantId(Uuid::from_u128(number)));
    let rows = Fake::with([first, second, third], &keys);
    for tenant in [first, second, third] {
        clock.advance_seconds(1);
        keys.of(tenant, &rows).await.unwrap();
    }
    for (tenant, loads) in [(third, 3), (second, 3), (first, 4), (third, 4), (second, 5)] {
        keys.of(tenant, &rows).await.unwrap();
        assert_eq!(rows.loads(), loads, "{tenant}");
    }
}

#[tokio::test]
async fn the_check_names_every_master_key_that_is_missing() {
    let clock = TestClock::default();
    let other = TenantKeys::new(ring(2), Arc::new(clock.clone()));
    let rows = Fake::with([TENANT], &other);
    assert!(check_master_keys(&ring(2), &rows).await.is_ok());
    let error = check_master_keys(&ring(1), &rows).await.unwrap_err();
    assert!(error.to_string().contains(&ring(2).active_id().to_string()), "{error}");
    // A destroyed key needs no master key any more.
    rows.change(TENANT, |rows| rows.iter_mut().for_each(|row| row.state = KeyState::Destroyed));
    assert!(check_master_keys(&ring(1), &rows).await.is_ok());
}

#[tokio::test]
async fn the_check_finds_a_damaged_key() {
    let keys = cache(&TestClock::default());
    let rows = Fake::with([TENANT], &keys);
    rows.change(TENANT, |rows| rows[0].wrapped[50] ^= 1);
    assert!(matches!(
        check_master_keys(&keys.ring(), &rows).await,
        Err(CheckError::Damaged { tenant: TENANT })
    ));
    rows.change(TENANT, |rows| rows[0].wrapped.truncate(20));
    assert!(matches!(
        check_master_keys(&keys.ring(), &rows).await,
        Err(CheckError::Damaged { tenant: TENANT })
    ));
}

#[tokio::test]
async fn the_check_reads_every_page() {
    let clock = TestClock::default();
    let many = (1..=400).map(|number| TenantId(Uuid::from_u128(number)));
    let keys = cache(&clock);
    let rows = Fake::with(many, &keys);
    let last = TenantId(Uuid::from_u128(u128::MAX));
    let foreign = TenantKeys::new(ring(2), Arc::new(clock)).create(last, &counting()).1;
    rows.rows.lock().unwrap().insert(last, foreign.to_vec());
    assert!(matches!(check_master_keys(&keys.ring(), &rows).await, Err(CheckError::NotLoaded(_))));
}

#[test]
fn a_missing_master_key_is_no_news_for_clients() {
    let cause = SealError::UnknownMasterKey(ring(1).active_id());
    let problem = KeysError::Unusable { tenant: TENANT, cause }.into_problem();
    assert_eq!(problem.code, Code::Unavailable);
    assert!(!problem.detail.contains(&ring(1).active_id().to_string()));
}

both_engines!(the_keys_of_a_new_tenant_are_found_in_the_database, |t| async {
    let keys = cache(&t.clock);
    assert!(is_instance_empty(&t.store).await.unwrap());
    let (made, rows) = keys.create(TENANT, &counting());
    let sealed = made.seal(&PLACE, b"body", NONCE);
    t.store
        .write(move |conn| {
            Box::pin(async move {
                let at = conn.now().await?;
                let (slug, name) = ("acme".to_owned(), "Acme".to_owned());
                let tenant = tenants::TenantRow { id: TENANT, slug, name, suspended: false, created_at: at };
                tenants::insert(conn, &tenant).await?;
                for row in &rows {
                    tenant_keys::insert(conn, TENANT, row, at).await?;
                }
                Ok(())
            })
        })
        .await
        .unwrap();
    assert!(!is_instance_empty(&t.store).await.unwrap());
    assert!(check_master_keys(&keys.ring(), &t.store).await.is_ok());
    assert!(check_master_keys(&ring(9), &t.store).await.is_err());
    assert_eq!(keys.of(TENANT, &t.store).await.unwrap().open(&PLACE, &sealed).unwrap(), b"body");
    let stranger = TenantId(Uuid::from_u128(7));
    assert!(matches!(keys.of(stranger, &t.store).await, Err(KeysError::NoTenant(_))));
});
