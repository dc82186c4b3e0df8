//! Which senders the demo has, and what their requests look like: types, ids, headers, bodies. The
//! bodies stand under `bodies`, with places for what differs from event to event.

use restante_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::dice::Dice;

const LETTERS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";
const CAPITALS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789";
const PEOPLE: [&str; 8] = ["ada", "grace", "linus", "radia", "barbara", "edsger", "katherine", "donald"];

/// How a sender writes its ids.
#[derive(Debug, Clone, Copy)]
enum Id {
    /// A prefix and letters.
    Letters(&'static str, usize),
    /// A prefix and capitals.
    Capitals(&'static str, usize),
    /// A prefix and hexadecimal digits.
    Hex(&'static str, usize),
    Uuid,
}

/// When a sender has something to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hours {
    /// As people buy: mostly by day, a little at night, more on the weekend.
    Shop,
    /// As people work: in working hours, from Monday to Friday.
    Office,
    /// As machines run: always, with a little less at night.
    Machine,
}

/// One kind of sender.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) provider: &'static str,
    /// The endpoint's name.
    pub(super) name: &'static str,
    /// What the secrets of this provider begin with.
    pub(super) secret_prefix: &'static str,
    pub(super) hours: Hours,
    /// Events in a busy hour, times ten.
    pub(super) tenths_an_hour: usize,
    /// One event of so many comes twice.
    pub(super) repeats_one_in: usize,
    id: Id,
    /// Types with their bodies; what stands twice comes twice as often.
    pub(super) types: &'static [(&'static str, &'static str)],
    /// Headers as the provider sends them. None of them is signed.
    pub(super) headers: &'static [(&'static str, &'static str)],
}

pub(super) const STRIPE: Kind = Kind {
    provider: "stripe",
    name: "Payments",
    secret_prefix: "whsec_",
    hours: Hours::Shop,
    tenths_an_hour: 42,
    repeats_one_in: 30,
    id: Id::Letters("evt_1", 23),
    types: &[
        ("charge.succeeded", include_str!("bodies/stripe.charge.json")),
        ("charge.succeeded", include_str!("bodies/stripe.charge.json")),
        ("invoice.paid", include_str!("bodies/stripe.invoice.json")),
        ("customer.subscription.updated", include_str!("bodies/stripe.subscription.json")),
        ("invoice.payment_failed", include_str!("bodies/stripe.invoice.json")),
    ],
    headers: &[("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")],
};

pub(super) const SHOPIFY: Kind = Kind {
    provider: "shopify",
    name: "Shop, Europe",
    secret_prefix: "shpss_",
    hours: Hours::Shop,
    tenths_an_hour: 26,
    repeats_one_in: 18,
    id: Id::Uuid,
    types: &[
        ("orders/create", include_str!("bodies/shopify.order.json")),
        ("orders/paid", include_str!("bodies/shopify.order.json")),
        ("products/update", include_str!("bodies/shopify.product.json")),
    ],
    headers: &[
        ("User-Agent", "Shopify-Captain-Hook"),
        ("X-Shopify-Shop-Domain", "hearth-and-home.myshopify.com"),
        ("X-Shopify-Webhook-Id", "$uuid"),
    ],
};

pub(super) const GITHUB: Kind = Kind {
    provider: "github",
    name: "Repositories",
    secret_prefix: "",
    hours: Hours::Office,
    tenths_an_hour: 34,
    repeats_one_in: 90,
    id: Id::Uuid,
    types: &[
        ("push", include_str!("bodies/github.push.json")),
        ("workflow_run", include_str!("bodies/github.workflow_run.json")),
        ("pull_request", include_str!("bodies/github.pull_request.json")),
    ],
    headers: &[("User-Agent", "GitHub-Hookshot/8b2c9d1"), ("X-GitHub-Hook-ID", "41823755")],
};

pub(super) const SLACK: Kind = Kind {
    provider: "slack",
    name: "Support channel",
    secret_prefix: "",
    hours: Hours::Office,
    tenths_an_hour: 18,
    repeats_one_in: 60,
    id: Id::Capitals("Ev0", 9),
    types: &[
        ("event_callback.message", include_str!("bodies/slack.event.json")),
        ("event_callback.app_mention", include_str!("bodies/slack.event.json")),
    ],
    headers: &[("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")],
};

pub(super) const TWILIO: Kind = Kind {
    provider: "twilio",
    name: "Text messages",
    secret_prefix: "",
    hours: Hours::Shop,
    tenths_an_hour: 9,
    repeats_one_in: 50,
    id: Id::Hex("SM", 32),
    types: &[
        ("delivered", include_str!("bodies/twilio.message.form")),
        ("sent", include_str!("bodies/twilio.message.form")),
    ],
    headers: &[("User-Agent", "TwilioProxy/1.1")],
};

/// A system that the catalogue does not know, and that the tenant has described.
pub(super) const WAREHOUSE: Kind = Kind {
    provider: "custom",
    name: "Warehouse",
    secret_prefix: "",
    hours: Hours::Machine,
    tenths_an_hour: 14,
    repeats_one_in: 40,
    id: Id::Letters("wh_", 12),
    types: &[
        ("stock.changed", include_str!("bodies/warehouse.json")),
        ("parcel.shipped", include_str!("bodies/warehouse.json")),
        ("parcel.delivered", include_str!("bodies/warehouse.json")),
    ],
    headers: &[("User-Agent", "hearth-wms/4.2")],
};

/// All of them.
pub(super) const KINDS: [&Kind; 6] = [&STRIPE, &SHOPIFY, &GITHUB, &SLACK, &TWILIO, &WAREHOUSE];

/// What a sender has to tell, before it is signed.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) event_type: &'static str,
    pub(super) body: String,
}

impl Kind {
    /// The options of its endpoint.
    pub(super) fn options(&self) -> Map<String, Value> {
        let mut options = Map::new();
        if self.provider == "custom" {
            let verify = json!({
                "algorithm": "hmac-sha256",
                "header": "X-Warehouse-Signature",
                "prefix": "sha256=",
                "event": { "id": { "json": "/id" }, "type": { "json": "/type" } }
            });
            options.insert("verify".to_owned(), verify);
        }
        options
    }

    /// A new event of one of its types; of the named one, if that is among them.
    pub(super) fn event(&self, dice: &mut Dice, at: Timestamp, named: Option<&str>) -> Event {
        let of_type = named.and_then(|name| self.types.iter().find(|(known, _)| *known == name));
        let (event_type, body) = of_type.or_else(|| dice.pick(self.types)).copied().unwrap_or_default();
        let id = match self.id {
            Id::Letters(prefix, count) => format!("{prefix}{}", dice.text(LETTERS, count)),
            Id::Capitals(prefix, count) => format!("{prefix}{}", dice.text(CAPITALS, count)),
            Id::Hex(prefix, count) => format!("{prefix}{}", dice.hex(count)),
            Id::Uuid => uuid(dice),
        };
        let euros = 9 + dice.below(180);
        let body = body
            .replace("$id", &id)
            .replace("$type", event_type)
            .replace("$kind", event_type.rsplit('.').next().unwrap_or_default())
            .replace("$at", &at.seconds().to_string())
            .replace("$iso", &at.to_string())
            .replace("$cents", &format!("{euros}00"))
            .replace("$euros", &euros.to_string())
            .replace("$number", &(1000 + dice.below(9000)).to_string())
            .replace("$few", &(1 + dice.below(40)).to_string())
            .replace("$letters", &dice.text(LETTERS, 22))
            .replace("$word", &dice.text(CAPITALS, 7))
            .replace("$hash", &dice.hex(40))
            .replace("$sha", &dice.hex(40))
            .replace("$person", dice.pick(&PEOPLE).copied().unwrap_or_default());
        Event { id, event_type, body }
    }
}

/// A random UUID.
pub(super) fn uuid(dice: &mut Dice) -> String {
    format!("{}-{}-4{}-a{}-{}", dice.hex(8), dice.hex(4), dice.hex(3), dice.hex(3), dice.hex(12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_in_a_body_stays_empty() {
        let mut dice = Dice::new(1);
        for kind in KINDS {
            for (name, _) in kind.types {
                let event = kind.event(&mut dice, Timestamp::from_seconds(1_796_040_000), Some(name));
                assert_eq!(event.event_type, *name);
                assert!(!event.body.contains('$'), "{}", event.body);
                assert!(event.body.contains(&event.id) || matches!(kind.id, Id::Uuid), "{}", event.body);
            }
        }
    }
}
