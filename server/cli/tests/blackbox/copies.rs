//! Many copies of one event at once, on one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::stories::{begin, holds_it_once, outcome};
use crate::support::{Connection, Place};

/// Copies that are sent.
const COPIES: usize = 1_000;
/// Connections that they come over, all of them opened before the first copy.
const CONNECTIONS: usize = 256;

both_databases!(a_thousand_copies_at_once_make_one_receipt, |place| async {
    let (server, api, sender, signed) = begin(&place, &[]).await;
    let shared = Arc::new((sender, signed, Barrier::new(CONNECTIONS), AtomicUsize::new(0)));
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (shared, address) = (Arc::clone(&shared), server.address());
        connections.spawn(async move {
            let (sender, signed, start, sent) = &*shared;
            let mut connection = Connection::open(address).await.expect("a connection");
            let mut outcomes = Vec::new();
            start.wait().await;
            while sent.fetch_add(1, Ordering::SeqCst) < COPIES {
                let answer = connection.send(sender.request(signed)).await.expect("an answer");
                outcomes.push(outcome(&answer));
            }
            outcomes
        });
    }
    let outcomes = connections.join_all().await.concat();
    assert_eq!(outcomes.len(), COPIES);
    assert!(outcomes.iter().all(|(_, id)| *id == outcomes[0].1), "one id for all");
    let of = |wanted: &str| outcomes.iter().filter(|(status, _)| status == wanted).count();
    assert_eq!((of("accepted"), of("duplicate")), (1, COPIES - 1));
    holds_it_once(&api, &outcomes[0].1, COPIES as u64).await;
});
