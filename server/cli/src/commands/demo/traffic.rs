//! The demo's traffic: at first a little of everything, then a request every few seconds.

use std::net::SocketAddr;
use std::time::Duration;

use super::senders::Sender;
use crate::failure::Failure;
use crate::say;

/// Between two requests, once the first ones are through.
const PAUSE: Duration = Duration::from_secs(4);
/// What every sender sends at the start.
const FIRST: [Turn; 5] = [Turn::New, Turn::New, Turn::Repeat, Turn::Forged, Turn::New];
/// What one of them sends at each turn after that.
const LATER: [Turn; 6] = [Turn::New, Turn::New, Turn::Repeat, Turn::New, Turn::New, Turn::Forged];

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

/// Sends until the demo ends.
pub(super) async fn run(address: SocketAddr, senders: &[Sender]) -> Result<(), Failure> {
    let mut last = Vec::new();
    for sender in senders {
        let mut id = new_id()?;
        for turn in FIRST {
            id = take(address, sender, turn, id).await?;
        }
        last.push((sender, id));
    }
    for turn in LATER.into_iter().cycle() {
        for (sender, id) in &mut last {
            tokio::time::sleep(PAUSE).await;
            *id = take(address, sender, turn, std::mem::take(id)).await?;
        }
    }
    Ok(())
}

/// Takes a turn; gives the id of the sender's last event.
async fn take(address: SocketAddr, sender: &Sender, turn: Turn, last: String) -> Result<String, Failure> {
    let (what, id, request) = match turn {
        Turn::New => {
            let id = new_id()?;
            ("a new event", id.clone(), sender.event(&id)?)
        }
        Turn::Repeat => ("the same again", last.clone(), sender.event(&last)?),
        Turn::Forged => ("a forged one", last, sender.forged(&new_id()?)?),
    };
    let said = sender.send(address, &request).await?;
    say::note(&format!("{:<8} {what:<15} {said}", sender.provider()));
    Ok(id)
}

fn new_id() -> Result<String, Failure> {
    Ok(format!("evt_{}", random_hex::<8>()?))
}

/// Random bytes in hex.
pub(super) fn random_hex<const N: usize>() -> Result<String, Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Failure::new(format!("There is no randomness: {error}.")))?;
    Ok(hex::encode(bytes))
}
