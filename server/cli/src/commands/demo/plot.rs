//! What happens in the demo's week beside the usual: for each state that a page can show, an event that
//! is in it, and how it came there.

use restante_core::time::Timestamp;

use super::kinds::{self, Kind};
use super::workers::Fate;

/// Something out of the ordinary.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scene {
    /// Somebody who knows the URL and not the secret tries it, so many times.
    Forgeries(usize),
    /// A request without any signature.
    Unsigned,
    /// A request that was signed long ago.
    Outdated,
    /// A proxy has written the JSON anew before it passed it on.
    Reshaped,
    /// An authentic request in which no id can be found.
    Unreadable,
    /// The sender has not seen our answers, and sends all of its last events again.
    LostAnswers,
    /// One id, three deliveries, two bodies; the parts come one after the other.
    Diverging(Part),
    /// One more event, at whatever hour it is.
    Usual(&'static Kind),
    /// An event whose handling does not go as it should; the name is for the scenes after it.
    Fated(&'static str, &'static Kind, &'static str, Fate),
    /// The owner replays a named event.
    Replayed(&'static str, &'static str),
    /// The owner settles a named event as failed.
    Settled(&'static str, &'static str),
}

/// A part of what makes an event diverge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    First,
    Same,
    Other,
}

const UNKNOWN: &str = "No customer cus_8RQ2MWD in the ledger";
const DEADLOCK: &str = "ERROR: deadlock detected (SQLSTATE 40P01)";
const PRINTER: &str = "connect ECONNREFUSED 10.0.4.17:9100 (label printer)";
const FAILED: &str = "invoice.payment_failed";

/// The scenes with how many minutes before the end each comes, the earliest first.
const SCENES: [(i64, Scene); 27] = [
    (145 * 60, Scene::Fated("label", &kinds::SHOPIFY, "orders/paid", Fate::WorksLater(PRINTER))),
    (97 * 60, Scene::LostAnswers),
    (61 * 60, Scene::Outdated),
    (60 * 60, Scene::Unsigned),
    (44 * 60, Scene::Unreadable),
    (30 * 60, Scene::Unsigned),
    (22 * 60, Scene::Fated("label", &kinds::SHOPIFY, "orders/create", Fate::WorksLater(PRINTER))),
    (20 * 60, Scene::Fated("gone", &kinds::STRIPE, FAILED, Fate::Fails(UNKNOWN))),
    (9 * 60, Scene::Unsigned),
    (7 * 60, Scene::Forgeries(38)),
    (6 * 60 + 30, Scene::Forgeries(21)),
    (6 * 60, Scene::Settled("gone", "The customer was removed on purpose; refunded by hand.")),
    (5 * 60, Scene::Diverging(Part::First)),
    (4 * 60 + 30, Scene::Diverging(Part::Same)),
    (4 * 60, Scene::Diverging(Part::Other)),
    (3 * 60 + 50, Scene::Fated("mended", &kinds::STRIPE, FAILED, Fate::Fails(UNKNOWN))),
    (3 * 60 + 20, Scene::Fated("unknown", &kinds::STRIPE, FAILED, Fate::Fails(UNKNOWN))),
    (3 * 60, Scene::Fated("unknown", &kinds::STRIPE, FAILED, Fate::Fails(UNKNOWN))),
    (2 * 60 + 40, Scene::Fated("locked", &kinds::STRIPE, "charge.succeeded", Fate::NeverWorks(DEADLOCK))),
    (2 * 60 + 20, Scene::Fated("locked", &kinds::STRIPE, "invoice.paid", Fate::NeverWorks(DEADLOCK))),
    (2 * 60, Scene::Replayed("mended", "The ledger knows this customer now.")),
    (
        90,
        Scene::Fated(
            "unsure",
            &kinds::STRIPE,
            "charge.succeeded",
            Fate::Uncertain("The bank's API did not answer within 30 s; the transfer may have gone out"),
        ),
    ),
    (50, Scene::Reshaped),
    (20, Scene::Fated("label", &kinds::SHOPIFY, "orders/paid", Fate::WorksLater(PRINTER))),
    (9, Scene::Usual(&kinds::TWILIO)),
    (6, Scene::Usual(&kinds::STRIPE)),
    (1, Scene::Usual(&kinds::SHOPIFY)),
];

/// The scenes that are still to come.
pub(super) struct Plot {
    coming: std::vec::IntoIter<(Timestamp, Scene)>,
}

impl Plot {
    /// All of them, before such an end.
    pub(super) fn until(end: Timestamp) -> Self {
        let at = |(minutes, scene): (i64, Scene)| (end.plus_seconds(-60 * minutes), scene);
        Self { coming: SCENES.map(at).to_vec().into_iter() }
    }

    /// The scenes that come up to a time.
    pub(super) fn due(&mut self, at: Timestamp) -> Vec<Scene> {
        let count = self.coming.as_slice().iter().take_while(|(when, _)| *when <= at).count();
        self.coming.by_ref().take(count).map(|(_, scene)| scene).collect()
    }
}
