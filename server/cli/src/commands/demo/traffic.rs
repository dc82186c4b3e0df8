//! The demo's present: at first a little of everything, then a request every few seconds, and
//! applications that keep pace with it.

use std::net::SocketAddr;
use std::time::Duration;

use restante_app::App;
use restante_app::clock::SystemClock;
use restante_core::time::Clock as _;

use super::cast::{BILLING, CHAT, Cast, DEFAULT, FULFILMENT};
use super::dice::Dice;
use super::kinds::{Event, WAREHOUSE};
use super::senders::Sender;
use super::workers::{Answers, claim};
use crate::failure::Failure;
use crate::say;

/// Between two requests, once the first ones are through.
const PAUSE: Duration = Duration::from_secs(4);
/// What is sent at the start.
const FIRST: [Turn; 4] = [Turn::New, Turn::Repeat, Turn::Forged, Turn::New];
/// One request of so many is a repeat, and one of so many is forged.
const REPEATS_ONE_IN: usize = 12;
const FORGED_ONE_IN: usize = 25;
/// New events that `default` may be behind, so that whoever claims there finds something.
const DEFAULT_BEHIND: usize = 8;

/// What a sender does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Sends an event that was not there before.
    New,
    /// Sends its last event again, as after an answer that got lost.
    Repeat,
    /// Sends what somebody else has signed.
    Forged,
}

/// Sends and works until the demo ends.
pub(super) async fn run(app: &App, address: SocketAddr, cast: &Cast, seed: u64) -> Result<(), Failure> {
    let mut dice = Dice::new(seed);
    // The Warehouse has fallen silent.
    let senders: Vec<&Sender> =
        cast.senders.iter().filter(|sender| sender.kind.provider != WAREHOUSE.provider).collect();
    let weighted: Vec<usize> = senders
        .iter()
        .enumerate()
        .flat_map(|(place, sender)| std::iter::repeat_n(place, sender.kind.tenths_an_hour))
        .collect();
    let mut last: Vec<Option<Event>> = vec![None; senders.len()];
    let mut new = 0_usize;
    for number in 0_usize.. {
        let (place, turn) = match FIRST.get(number) {
            Some(turn) => (0, *turn),
            None => {
                tokio::time::sleep(PAUSE).await;
                let turn = match () {
                    () if dice.one_in(REPEATS_ONE_IN) => Turn::Repeat,
                    () if dice.one_in(FORGED_ONE_IN) => Turn::Forged,
                    () => Turn::New,
                };
                (dice.pick(&weighted).copied().unwrap_or(0), turn)
            }
        };
        if let (Some(sender), Some(last)) = (senders.get(place), last.get_mut(place)) {
            new += usize::from(take(address, sender, turn, last, &mut dice).await?);
        }
        for consumer in [BILLING, FULFILMENT, CHAT] {
            work(app, cast, consumer, None).await?;
        }
        if new > DEFAULT_BEHIND {
            new -= 1;
            work(app, cast, DEFAULT, Some(1)).await?;
        }
    }
    Ok(())
}

/// Takes a turn; tells whether there is a new event.
async fn take(
    address: SocketAddr,
    sender: &Sender,
    turn: Turn,
    last: &mut Option<Event>,
    dice: &mut Dice,
) -> Result<bool, Failure> {
    let now = SystemClock.now();
    let (what, request, is_new) = match (turn, last.as_ref()) {
        (Turn::Repeat, Some(event)) => ("the same again", sender.sign(event, now, dice)?, false),
        (Turn::Forged, _) => {
            let event = sender.kind.event(dice, now, None);
            ("a forged one", sender.forge(&event, now, dice)?, false)
        }
        (Turn::New, _) | (Turn::Repeat, None) => {
            let event = last.insert(sender.kind.event(dice, now, None));
            ("a new event", sender.sign(event, now, dice)?, true)
        }
    };
    let said = sender.send(address, request).await?;
    say::note(&format!("{:<8} {what:<15} {said}", sender.kind.provider));
    Ok(is_new)
}

/// An application takes what is due, and has done it.
async fn work(app: &App, cast: &Cast, consumer: &str, max: Option<u32>) -> Result<(), Failure> {
    let claimed = claim(app, &cast.by_workers, consumer, max).await?;
    Answers::of(&claimed, None).give(app, &cast.by_workers, consumer).await
}
