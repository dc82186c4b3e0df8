//! The week that the demo tells: requests and applications by the roads that they take in earnest, with
//! the clock moved from step to step. Nothing is written past the verbs of the program, so what is to be
//! seen is what would be there after such a week.

use std::collections::{HashMap, VecDeque};

use futures_util::future::{join_all, try_join_all};
use restante_app::App;
use restante_app::replay::Settle;
use restante_core::handoff::Settlement;
use restante_core::id::{ReceiptId, uuid_v7};
use restante_core::time::Timestamp;
use restante_core::verify::SignedRequest;

use super::cast::{BILLING, CHAT, Cast, DEFAULT, FULFILMENT, SEARCH};
use super::clock::MovedClock;
use super::dice::Dice;
use super::kinds::{self, Event, Kind};
use super::plot::{Part, Plot, Scene};
use super::rhythm::{percent, steps};
use super::senders::Sender;
use super::workers::{Answers, Fate, Fates, claim};
use crate::failure::Failure;

const HOUR: i64 = 3_600;
/// The Warehouse has sent nothing for so long at the end.
const SILENT_SECONDS: i64 = 41 * HOUR;
/// The search index has been down for so long at the end.
const DOWN_SECONDS: i64 = 19 * HOUR;
/// What came so shortly before the end waits at the consumer `default` for whoever looks around.
const LEFT_SECONDS: i64 = 12 * 60;
/// An order of so many needs a second attempt.
const RETRIES_ONE_IN: usize = 45;
/// Events of a sender that are remembered, to come again.
const REMEMBERED: usize = 14;

/// A request, and how it is to end.
struct Sent {
    sender: usize,
    signed: SignedRequest,
    at: Timestamp,
    refused: bool,
}

/// The week under way.
struct Week<'a> {
    app: &'a App,
    clock: &'a MovedClock,
    cast: &'a Cast,
    end: Timestamp,
    now: Timestamp,
    dice: Dice,
    plot: Plot,
    fates: Fates,
    /// What each sender has not sent yet of what its rhythm asks for, in thousandths of an event and more.
    owed: Vec<i64>,
    remembered: Vec<VecDeque<Event>>,
    /// Events that come again at the next step.
    again: Vec<(usize, Event)>,
    /// Ids of events that later scenes name.
    named: HashMap<&'static str, String>,
    diverging: Option<Event>,
    sent: Vec<Sent>,
}

/// Lives through the week that ends at a time. The clock stands there afterwards.
pub(super) async fn pass(app: &App, clock: &MovedClock, cast: &Cast, end: Timestamp) -> Result<(), Failure> {
    let moments = steps(end);
    let mut week = Week {
        app,
        clock,
        cast,
        end,
        now: moments.first().copied().unwrap_or(end),
        dice: Dice::new(7),
        plot: Plot::until(end),
        fates: Fates::default(),
        owed: vec![0; cast.senders.len()],
        remembered: vec![VecDeque::new(); cast.senders.len()],
        again: Vec::new(),
        named: HashMap::new(),
        diverging: None,
        sent: Vec::new(),
    };
    for moment in moments {
        week.step(moment).await?;
    }
    Ok(())
}

impl<'a> Week<'a> {
    async fn step(&mut self, at: Timestamp) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.now, at);
        self.again()?;
        self.usual(before)?;
        let mut acts = Vec::new();
        for scene in self.plot.due(at) {
            match scene {
                Scene::Replayed(..) | Scene::Settled(..) => acts.push(scene),
                scene => self.play(scene)?,
            }
        }
        self.clock.move_to(at);
        self.deliver().await?;
        self.work().await?;
        for act in acts {
            self.act(act).await?;
        }
        // Leases that ran out, as the server's sweep does each second.
        self.app.sweep().await?;
        Ok(())
    }

    /// What each sender has to tell since the last step.
    fn usual(&mut self, before: Timestamp) -> Result<(), Failure> {
        let seconds = self.now.micros_since(before) / 1_000_000;
        for place in 0..self.cast.senders.len() {
            let kind = self.kind(place);
            let silent = kind.provider == kinds::WAREHOUSE.provider && self.ago() < SILENT_SECONDS;
            let tenths = i64::try_from(kind.tenths_an_hour).unwrap_or(0);
            if let Some(owed) = self.owed.get_mut(place) {
                *owed += tenths * percent(kind.hours, self.now) * seconds;
            }
            while !silent && self.takes_one(place) {
                let at = self.moment(90);
                let event = kind.event(&mut self.dice, at, None);
                if kind.provider == kinds::SHOPIFY.provider && self.dice.one_in(RETRIES_ONE_IN) {
                    self.fates.set(&event.id, Fate::WorksLater("502 Bad Gateway from the carrier's API"));
                }
                if self.dice.one_in(kind.repeats_one_in) {
                    self.again.push((place, event.clone()));
                }
                self.send(place, event, at)?;
            }
        }
        Ok(())
    }

    /// Whether a sender owes an event; it owes one less afterwards.
    fn takes_one(&mut self, place: usize) -> bool {
        /// Tenths, percent and seconds of an hour.
        const ONE: i64 = 10 * 100 * HOUR;
        let Some(owed) = self.owed.get_mut(place).filter(|owed| **owed >= ONE) else { return false };
        *owed -= ONE;
        true
    }

    fn again(&mut self) -> Result<(), Failure> {
        for (place, event) in std::mem::take(&mut self.again) {
            let at = self.moment(90);
            self.send(place, event, at)?;
        }
        Ok(())
    }

    fn play(&mut self, scene: Scene) -> Result<(), Failure> {
        let (stripe, at) = (&kinds::STRIPE, self.moment(60));
        match scene {
            Scene::Forgeries(count) => {
                for _ in 0..count {
                    let at = self.moment(140);
                    let (place, sender) = self.sender(stripe)?;
                    let event = stripe.event(&mut self.dice, at, Some("invoice.paid"));
                    let signed = sender.forge(&event, at, &mut self.dice)?;
                    self.sent.push(Sent { sender: place, signed, at, refused: true });
                }
            }
            Scene::Unsigned => {
                self.refused(&kinds::GITHUB, at, |signed| {
                    signed.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("x-hub-signature-256"));
                })?;
            }
            Scene::Outdated => {
                let (place, sender) = self.sender(stripe)?;
                let signed_at = at.plus_seconds(-52 * 60);
                let event = stripe.event(&mut self.dice, signed_at, None);
                let signed = sender.sign(&event, signed_at, &mut self.dice)?;
                self.sent.push(Sent { sender: place, signed, at, refused: true });
            }
            Scene::Reshaped => {
                self.refused(stripe, at, |signed| {
                    let text = String::from_utf8_lossy(&signed.body);
                    let lines: String = text.lines().map(str::trim).collect();
                    signed.body = lines.replace("\": ", "\":").into_bytes();
                })?;
            }
            Scene::Unreadable => {
                let body = "stock report, Hamburg 2: 41 pallets in, 38 out".to_owned();
                let (place, _) = self.sender(&kinds::WAREHOUSE)?;
                self.send(place, Event { id: String::new(), event_type: "stock.changed", body }, at)?;
            }
            Scene::LostAnswers => {
                let (place, _) = self.sender(&kinds::SHOPIFY)?;
                let remembered = self.remembered.get(place).cloned().unwrap_or_default();
                self.again.extend(remembered.iter().cloned().map(|event| (place, event)));
                for event in remembered {
                    self.send(place, event, at)?;
                }
            }
            Scene::Diverging(part) => {
                let (place, _) = self.sender(stripe)?;
                let event = match (part, self.diverging.take()) {
                    (Part::First, _) | (_, None) => stripe.event(&mut self.dice, at, Some("invoice.paid")),
                    (_, Some(event)) => event,
                };
                self.diverging = Some(event.clone());
                let body = match part {
                    Part::Other => event.body.replace("\"status\": \"open\"", "\"status\": \"paid\""),
                    Part::First | Part::Same => event.body.clone(),
                };
                self.send(place, Event { body, ..event }, at)?;
            }
            Scene::Usual(kind) => {
                let (place, _) = self.sender(kind)?;
                let event = kind.event(&mut self.dice, at, None);
                self.send(place, event, at)?;
            }
            Scene::Fated(name, kind, of_type, fate) => {
                let (place, _) = self.sender(kind)?;
                let event = kind.event(&mut self.dice, at, Some(of_type));
                self.fates.set(&event.id, fate);
                self.named.insert(name, event.id.clone());
                self.send(place, event, at)?;
            }
            Scene::Replayed(..) | Scene::Settled(..) => {}
        }
        Ok(())
    }

    /// An event that is changed on its way and refused.
    fn refused(
        &mut self,
        kind: &'static Kind,
        at: Timestamp,
        change: impl Fn(&mut SignedRequest),
    ) -> Result<(), Failure> {
        let (place, sender) = self.sender(kind)?;
        let event = kind.event(&mut self.dice, at, None);
        let mut signed = sender.sign(&event, at, &mut self.dice)?;
        change(&mut signed);
        self.sent.push(Sent { sender: place, signed, at, refused: true });
        Ok(())
    }

    fn send(&mut self, place: usize, event: Event, at: Timestamp) -> Result<(), Failure> {
        let cast = self.cast;
        let Some(sender) = cast.senders.get(place) else { return Ok(()) };
        let signed = sender.sign(&event, at, &mut self.dice)?;
        self.sent.push(Sent { sender: place, signed, at, refused: false });
        if let Some(remembered) = self.remembered.get_mut(place) {
            remembered.push_back(event);
            if remembered.len() > REMEMBERED {
                remembered.pop_front();
            }
        }
        Ok(())
    }

    async fn deliver(&mut self) -> Result<(), Failure> {
        let mut sent = std::mem::take(&mut self.sent);
        sent.sort_by_key(|one| one.at);
        let refused = sent.iter().any(|one| one.refused);
        let (app, cast) = (self.app, self.cast);
        let answers = join_all(sent.into_iter().map(|one| async move {
            let id = uuid_v7(one.at, app.random.bytes());
            let request_id = format!("req_{:032x}", id.as_u128());
            let sender = cast.senders.get(one.sender);
            let sender = sender.ok_or_else(|| Failure::new("The demo lacks a sender."))?;
            let status = sender.deliver(app, one.signed, one.at, request_id).await?;
            if (200..300).contains(&status) == one.refused {
                let name = sender.kind.name;
                return Err(Failure::new(format!("The demo's {name} was answered with {status}.")));
            }
            Ok(())
        }));
        answers.await.into_iter().collect::<Result<(), Failure>>()?;
        if refused {
            self.app.flush_refusals().await;
        }
        Ok(())
    }

    /// The applications take what is due, and answer a moment later.
    async fn work(&mut self) -> Result<(), Failure> {
        let (app, by, ago) = (self.app, &self.cast.by_workers, self.ago());
        let mut at_work = vec![BILLING, FULFILMENT, CHAT];
        if ago >= DOWN_SECONDS {
            at_work.push(SEARCH);
        }
        if ago >= LEFT_SECONDS {
            at_work.push(DEFAULT);
        }
        let claimed = try_join_all(at_work.iter().map(|consumer| claim(app, by, consumer, None))).await?;
        self.clock.pass(180 + i64::try_from(self.dice.below(1_900)).unwrap_or(0));
        let mut answers = Vec::new();
        for (consumer, claimed) in at_work.iter().zip(&claimed) {
            // The search index goes down over its work, and a pick list is being printed just now.
            let over_it =
                (*consumer == SEARCH && ago < DOWN_SECONDS + HOUR) || (*consumer == FULFILMENT && ago == 0);
            if claimed.is_empty() || over_it {
                continue;
            }
            let fates = matches!(*consumer, BILLING | FULFILMENT).then_some(&mut self.fates);
            answers.push(Answers::of(claimed, fates).give(app, by, consumer));
        }
        try_join_all(answers).await?;
        Ok(())
    }

    /// The owner acts in the browser.
    async fn act(&mut self, scene: Scene) -> Result<(), Failure> {
        let by = &self.cast.by_owner;
        self.clock.pass(9_000);
        match scene {
            Scene::Replayed(name, why) => {
                let receipt = self.receipt(name)?;
                let (consumer, why) = (Some(BILLING.to_owned()), Some(why.to_owned()));
                self.app.replay_event(by, receipt, consumer, why, None).await?;
            }
            Scene::Settled(name, why) => {
                let settle = Settle {
                    consumer: BILLING.to_owned(),
                    settlement: Settlement::Failed,
                    note: Some(why.to_owned()),
                };
                self.app.settle_event(by, self.receipt(name)?, settle).await?;
            }
            _ => {}
        }
        Ok(())
    }

    fn receipt(&self, name: &str) -> Result<ReceiptId, Failure> {
        let id = self.named.get(name).and_then(|event| self.fates.receipt(event));
        id.ok_or_else(|| Failure::new(format!("The demo's event “{name}” has met nobody.")))
    }

    fn kind(&self, place: usize) -> &'static Kind {
        self.cast.senders.get(place).map_or(&kinds::STRIPE, |sender| sender.kind)
    }

    fn sender(&self, kind: &Kind) -> Result<(usize, &'a Sender), Failure> {
        let cast: &'a Cast = self.cast;
        let mut senders = cast.senders.iter().enumerate();
        let found = senders.find(|(_, sender)| sender.kind.provider == kind.provider);
        found.ok_or_else(|| Failure::new(format!("The demo lacks a sender like {}.", kind.provider)))
    }

    /// A moment within the last seconds before the step's.
    fn moment(&mut self, within_seconds: usize) -> Timestamp {
        let millis = i64::try_from(self.dice.below(within_seconds * 1_000)).unwrap_or(0);
        Timestamp::from_micros(self.now.micros() - 1_000 * millis)
    }

    /// Seconds from the step to the end.
    fn ago(&self) -> i64 {
        self.end.micros_since(self.now) / 1_000_000
    }
}
