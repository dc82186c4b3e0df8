//! Whether a round kept what it promised: an event whose request got a 2xx is stored, once; nothing is stored that
//! wasn't sent; each event was called new once. A server that is fast because it loses something fails here.

use std::collections::HashMap;

use crate::load::Outcome;
use crate::requests::Requests;

/// Faults that are told one by one; the rest are counted.
const FAULTS_TOLD_MAX: usize = 5;

/// One stored event, as the server's own interface shows it.
pub(crate) struct Stored {
    /// The provider's event id.
    pub(crate) event_id: String,
    /// How many deliveries of it were counted, where the server counts them.
    pub(crate) deliveries: Option<u64>,
}

/// Compares what was answered with what is stored; the faults, in sentences. Empty is well.
pub(crate) fn faults(requests: &Requests, outcome: &Outcome, stored: &[Stored]) -> Vec<String> {
    let mut faults = answer_faults(outcome);
    let mut found: HashMap<usize, u64> = HashMap::with_capacity(stored.len());
    for event in stored {
        let Some(number) = requests.event_of_id(&event.event_id) else {
            faults.push(format!("{} is stored and was never sent", event.event_id));
            continue;
        };
        let deliveries = event.deliveries.unwrap_or(0);
        if found.insert(number, deliveries).is_some() {
            faults.push(format!("{} is stored twice", event.event_id));
        }
        let answered = u64::from(outcome.successes[number]);
        let may_have_more = outcome.unanswered > 0 || !outcome.refused.is_empty();
        if event.deliveries.is_some() && (deliveries < answered || (deliveries > answered && !may_have_more))
        {
            faults.push(format!("{} counts {deliveries} deliveries; {answered} got a 2xx", event.event_id));
        }
    }
    for (number, answered) in outcome.successes.iter().enumerate() {
        if *answered > 0 && !found.contains_key(&number) {
            faults.push(format!("{} got a 2xx and isn't stored", requests.event_id(number)));
        }
    }
    shortened(faults)
}

/// What the answers alone can show, for a server that stores nothing.
pub(crate) fn answer_faults(outcome: &Outcome) -> Vec<String> {
    let answered: u64 = outcome.successes.iter().map(|count| u64::from(*count)).sum();
    let mut faults = Vec::new();
    if answered == 0 {
        faults.push("no request got a 2xx".to_owned());
    }
    if outcome.unanswered > 0 {
        faults.push(format!("{} requests got no answer", outcome.unanswered));
    }
    faults
}

/// What the answers say about new and repeated events, for a server that stores.
pub(crate) fn novelty_faults(outcome: &Outcome) -> Vec<String> {
    let answered: u64 = outcome.successes.iter().map(|count| u64::from(*count)).sum();
    let events = outcome.successes.iter().filter(|count| **count > 0).count() as u64;
    let mut faults = Vec::new();
    if outcome.accepted + outcome.duplicates != answered {
        faults.push(format!(
            "{} of {answered} 2xx say neither accepted nor duplicate",
            answered - outcome.accepted - outcome.duplicates
        ));
    }
    if outcome.unanswered == 0 && outcome.refused.is_empty() && outcome.accepted != events {
        faults.push(format!("{} answers say accepted, for {events} events", outcome.accepted));
    }
    faults
}

fn shortened(mut faults: Vec<String>) -> Vec<String> {
    if faults.len() > FAULTS_TOLD_MAX {
        let more = faults.len() - FAULTS_TOLD_MAX;
        faults.truncate(FAULTS_TOLD_MAX);
        faults.push(format!("and {more} more"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Target;

    /// Five requests for four events, all answered, the second event twice.
    fn round() -> (Requests, Outcome, Vec<Stored>) {
        let target = Target { port: 1, path: "/in/x".into(), secret: "whsec_test".into() };
        let requests = Requests::prepare(&target, "evt_r1_", 5).unwrap();
        let outcome =
            Outcome { accepted: 4, duplicates: 1, successes: vec![1, 2, 1, 1], ..Outcome::default() };
        let stored = (0..4)
            .map(|event| Stored {
                event_id: requests.event_id(event),
                deliveries: Some(u64::from(outcome.successes[event])),
            })
            .collect();
        (requests, outcome, stored)
    }

    #[test]
    fn a_round_that_keeps_everything_has_no_fault() {
        let (requests, outcome, stored) = round();
        assert_eq!(faults(&requests, &outcome, &stored), Vec::<String>::new());
        assert_eq!(novelty_faults(&outcome), Vec::<String>::new());
    }

    #[test]
    fn an_answered_event_that_is_not_stored_is_a_fault() {
        let (requests, outcome, mut stored) = round();
        stored.remove(2);
        assert_eq!(faults(&requests, &outcome, &stored), ["evt_r1_0000002 got a 2xx and isn't stored"]);
    }

    #[test]
    fn an_event_that_is_stored_twice_is_a_fault() {
        let (requests, outcome, mut stored) = round();
        stored.push(Stored { event_id: requests.event_id(0), deliveries: Some(1) });
        assert_eq!(faults(&requests, &outcome, &stored), ["evt_r1_0000000 is stored twice"]);
    }

    #[test]
    fn a_stored_event_that_was_never_sent_is_a_fault() {
        let (requests, outcome, mut stored) = round();
        stored.push(Stored { event_id: "evt_other".into(), deliveries: None });
        assert_eq!(faults(&requests, &outcome, &stored), ["evt_other is stored and was never sent"]);
    }

    #[test]
    fn a_repeat_that_is_not_counted_is_a_fault() {
        let (requests, outcome, mut stored) = round();
        stored[1].deliveries = Some(1);
        assert_eq!(faults(&requests, &outcome, &stored), ["evt_r1_0000001 counts 1 deliveries; 2 got a 2xx"]);
    }

    #[test]
    fn a_repeat_that_is_called_new_is_a_fault() {
        let (_, mut outcome, _) = round();
        (outcome.accepted, outcome.duplicates) = (5, 0);
        assert_eq!(novelty_faults(&outcome), ["5 answers say accepted, for 4 events"]);
    }

    #[test]
    fn a_server_that_answers_nothing_is_a_fault() {
        assert_eq!(answer_faults(&Outcome::default()), ["no request got a 2xx"]);
    }
}
