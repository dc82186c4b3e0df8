//! The mark outside of the database on both engines.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use restante_core::id::ReceiptId;
use restante_core::time::Clock as _;
use restante_store::both_engines;

use crate::high_water::{FILE_NAME, Standing};
use crate::testing::TestApp;

/// A folder of its own for each test, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("restante-mark-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

both_engines!(a_database_that_is_as_it_was_left_is_sound, |t| async {
    let (a, folder) = (TestApp::new(t), Folder::new());
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound, "there is no mark yet");
    a.app.keep_high_water(&folder.0).await.unwrap();
    for _ in 0..3 {
        assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound);
        // The clock does not move, or goes back: the number grows all the same.
        a.t.clock.advance_seconds(-10);
        a.app.keep_high_water(&folder.0).await.unwrap();
    }
    std::fs::write(folder.0.join(FILE_NAME), "rubbish").unwrap();
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound, "a damaged mark says nothing");
});

both_engines!(a_database_that_went_back_is_noticed_until_somebody_says_so, |t| async {
    let (a, folder) = (TestApp::new(t), Folder::new());
    a.tenant("acme").await;
    a.app.keep_high_water(&folder.0).await.unwrap();
    a.t.execute("CREATE TABLE kept AS SELECT name, value FROM instance").await;
    a.t.clock.advance_seconds(3_600);
    a.app.keep_high_water(&folder.0).await.unwrap();
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound);

    a.t.execute(
        "UPDATE instance SET value = (SELECT value FROM kept WHERE kept.name = instance.name) \
                 WHERE name = 'high_water'",
    )
    .await;
    let found = a.app.standing(&folder.0).await.unwrap();
    let Standing::WentBack { knows_until, had_come_to } = found else { panic!("{found:?}") };
    assert_eq!(had_come_to.micros_since(knows_until), 3_600 * 1_000_000);
    a.app.acknowledge_restore(&folder.0, found).await.unwrap();
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound);
    assert_eq!(a.t.count("sessions").await, 0);
    let lines = "SELECT COUNT(*) FROM instance_audit_log WHERE action = 'instance.acknowledge_restore'";
    assert_eq!(a.t.number(lines).await, 1);
});

both_engines!(an_acknowledged_event_that_is_missing_is_noticed, |t| async {
    let (a, folder) = (TestApp::new(t), Folder::new());
    let tenant = a.tenant("acme").await;
    let endpoint = a.endpoint(&tenant.by, "Payments").await;
    a.hold_event(&tenant.by, endpoint).await;
    a.app.keep_high_water(&folder.0).await.unwrap();
    let held = a.app.store.read(|conn| {
        Box::pin(restante_store::check::look_through(
            conn,
            restante_store::check::LookedThrough::Receipts,
            None,
            1,
        ))
    });
    let receipt = ReceiptId(held.await.unwrap()[0].key.0);
    a.app.high_water.acknowledged(tenant.by.tenant(), receipt);
    a.app.keep_high_water(&folder.0).await.unwrap();
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound);
    a.t.execute("DELETE FROM receipts").await;
    let found = a.app.standing(&folder.0).await.unwrap();
    assert!(matches!(found, Standing::WentBack { .. }), "{found:?}");
    // Retention removes what is old, and the number says that the database is the newest all the same.
    a.t.clock.advance_seconds(7_200);
    a.app.keep_high_water(&folder.0).await.unwrap();
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound);
    a.t.clock.advance_seconds(-7_200);
    a.hold_event(&tenant.by, endpoint).await;
    a.app
        .high_water
        .acknowledged(tenant.by.tenant(), ReceiptId::new(a.t.clock.now().plus_seconds(7_200), [7; 10]));
    a.app.keep_high_water(&folder.0).await.unwrap();
    assert!(matches!(a.app.standing(&folder.0).await.unwrap(), Standing::WentBack { .. }));
    // The events of a tenant that was deleted are missing for a reason.
    a.t.execute("UPDATE tenant_keys SET state = 3").await;
    assert_eq!(a.app.standing(&folder.0).await.unwrap(), Standing::Sound);
});
