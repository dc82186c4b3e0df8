//! Jobs on both engines: once over several nodes, taken over from a holder that was lost, refused while the
//! clock can't be believed, asked for and paused by administrators alone.

use restante_core::problem::Code;
use restante_store::both_engines;
use restante_store::testing::START;
use tokio::sync::watch;

use super::clock_watch::ClockWatch;
use super::run::Looked;
use super::*;
use crate::people::Actor;
use crate::testing::TestApp;

fn goes_on() -> watch::Receiver<bool> {
    watch::channel(false).1
}

async fn look(app: &App, name: &str, clock: Option<&ClockWatch>) -> Looked {
    app.run_job(job(name).unwrap(), "node", clock, goes_on()).await.unwrap()
}

/// Past the first slot of a job.
async fn due(a: &TestApp, name: &str) {
    assert_eq!(look(&a.app, name, None).await, Looked::Nothing);
    a.t.clock.advance_seconds(61);
}

both_engines!(two_nodes_run_a_slot_once_and_its_report_is_kept, |t| async {
    let a = TestApp::new(t);
    due(&a, "answers").await;
    let other = a.second_node().await;
    let (one, two) = tokio::join!(look(&a.app, "answers", None), look(&other, "answers", None));
    assert!(matches!(
        (one, two),
        (Looked::Ran("done"), Looked::Nothing) | (Looked::Nothing, Looked::Ran("done"))
    ));
    let (job, runs) = a.app.scheduled_job(&Actor::operator(), "answers").await.unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].report, Some(Report::of("answers removed", 0)));
    assert_eq!(runs[0].row.outcome.as_deref(), Some("done"));
    assert!(!job.running && job.next > a.app.clock.now());
});

both_engines!(a_job_that_deletes_does_not_believe_a_clock_that_jumped, |t| async {
    let a = TestApp::new(t);
    due(&a, "people").await;
    let watch = ClockWatch::begin(START);
    a.t.clock.advance_seconds(400 * 86_400);
    assert_eq!(look(&a.app, "people", Some(&watch)).await, Looked::Ran("refused"));
    let (_, runs) = a.app.scheduled_job(&Actor::operator(), "people").await.unwrap();
    assert!(runs[0].row.error.as_deref().unwrap().contains("400 days ahead"));
    // It is no reason for one that deletes nothing.
    assert_eq!(look(&a.app, "consumers", Some(&watch)).await, Looked::Nothing);
    a.t.clock.advance_seconds(61);
    assert_eq!(look(&a.app, "consumers", Some(&watch)).await, Looked::Ran("done"));
    // Who asks for it has looked at the clock.
    a.app.ask_job(&Actor::operator(), "people").await.unwrap();
    assert_eq!(look(&a.app, "people", Some(&watch)).await, Looked::Ran("done"));
});

impl App {
    /// Does what is to be done of a job now, for tests elsewhere.
    pub(crate) async fn do_job(&self, name: &str) {
        assert!(matches!(look(self, name, None).await, Looked::Ran(_)), "{name}");
    }
}

// A server that was off can't compare its clock with itself. What it noted when it was last alive tells that a clock has
// leapt, or that it was off for long, and a person has to say which.
both_engines!(a_clock_that_jumped_while_the_server_was_off_deletes_nothing_either, |t| async {
    let a = TestApp::new(t);
    a.app.note_alive().await.unwrap();
    for job in JOBS.iter().filter(|job| job.deletes) {
        assert_eq!(look(&a.app, job.name, None).await, Looked::Nothing);
    }
    a.t.clock.advance_seconds(400 * 86_400);
    a.app.note_alive().await.unwrap();
    let watch = ClockWatch::begin(a.app.clock.now());
    let mut refused = 0;
    for job in JOBS.iter().filter(|job| job.deletes) {
        assert_eq!(look(&a.app, job.name, Some(&watch)).await, Looked::Ran("refused"), "{}", job.name);
        let (_, runs) = a.app.scheduled_job(&Actor::operator(), job.name).await.unwrap();
        assert!(runs[0].row.error.as_deref().unwrap().contains("last seen alive"), "{}", job.name);
        refused += 1;
    }
    assert!(refused >= 4, "answers, people, counters, retention");
    a.app.confirm_clock(&Actor::operator()).await.unwrap();
    a.t.clock.advance_seconds(86_400);
    let watch = ClockWatch::begin(a.app.clock.now());
    a.app.note_alive().await.unwrap();
    for job in JOBS.iter().filter(|job| job.deletes) {
        assert_eq!(look(&a.app, job.name, Some(&watch)).await, Looked::Ran("done"), "{}", job.name);
    }
});

both_engines!(a_paused_job_waits_until_it_is_asked_for, |t| async {
    let a = TestApp::new(t);
    due(&a, "answers").await;
    a.app.pause_job(&Actor::operator(), "answers", true).await.unwrap();
    assert_eq!(look(&a.app, "answers", None).await, Looked::Nothing);
    a.app.ask_job(&Actor::operator(), "answers").await.unwrap();
    assert_eq!(look(&a.app, "answers", None).await, Looked::Ran("done"));
    let (job, runs) = a.app.scheduled_job(&Actor::operator(), "answers").await.unwrap();
    assert!(job.paused && runs[0].row.slot_at.is_none());
    assert_eq!(a.t.count("instance_audit_log WHERE action IN ('job.run', 'job.pause')").await, 2);
});

both_engines!(the_schedule_is_for_administrators_alone, |t| async {
    let a = TestApp::new(t);
    // The first tenant's owner is made administrator; the second's is none.
    a.tenant("acme").await;
    a.tenant("beta").await;
    let one = a.t.number("SELECT COUNT(*) FROM users WHERE administrator").await;
    assert_eq!(one, 1);
    let stranger = Actor::person(restante_core::id::UserId(uuid::Uuid::nil()), None);
    let refused = |error: StoreError| matches!(error, StoreError::Problem(p) if p.code == Code::MissingScope);
    assert!(a.app.schedule(&stranger).await.err().is_some_and(refused));
    assert!(a.app.scheduled_job(&stranger, "answers").await.err().is_some_and(refused));
    assert!(a.app.ask_job(&stranger, "answers").await.err().is_some_and(refused));
    assert!(a.app.pause_job(&stranger, "answers", true).await.err().is_some_and(refused));
    assert_eq!(a.app.schedule(&Actor::operator()).await.unwrap().len(), JOBS.len());
    let unknown = a.app.ask_job(&Actor::operator(), "nothing").await.unwrap_err();
    assert!(matches!(unknown, StoreError::Problem(p) if p.code == Code::NotFound));
});

both_engines!(the_runner_does_what_was_asked_for_and_stops_when_told, |t| async {
    let a = TestApp::new(t);
    let (stop, stopped) = watch::channel(false);
    let runner = tokio::spawn(run_schedule(a.app.clone(), stopped));
    a.app.ask_job(&Actor::operator(), "answers").await.unwrap();
    let ended = async {
        loop {
            let (_, runs) = a.app.scheduled_job(&Actor::operator(), "answers").await.unwrap();
            if runs.first().is_some_and(|run| run.row.finished_at.is_some()) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    ended.await;
    stop.send(true).unwrap();
    runner.await.unwrap();
});

both_engines!(silence_and_backlogs_are_counted_over_all_tenants, |t| async {
    let a = TestApp::new(t);
    let one = a.tenant("acme").await;
    a.tenant("beta").await;
    let endpoint = a.endpoint(&one.by, "Payments").await;
    a.hold_event(&one.by, endpoint).await;
    a.t.clock.advance_seconds(2 * 60 * 60);
    a.app.ask_job(&Actor::operator(), "silence").await.unwrap();
    assert_eq!(look(&a.app, "silence", None).await, Looked::Ran("done"));
    let (_, runs) = a.app.scheduled_job(&Actor::operator(), "silence").await.unwrap();
    let counts = runs[0].report.clone().unwrap().counts;
    assert_eq!(counts[1], ("consumers are more than an hour behind".to_owned(), 1));
    assert_eq!(counts[2], ("tenants looked at".to_owned(), 2));
});

static BREAKS: Job = Job {
    name: "breaks",
    title: "A job that breaks off within",
    about: "",
    cron: "0 * * * * *",
    when: "each minute",
    deletes: false,
    lease_seconds: 60,
    work: |_| Box::pin(async { panic!("within") }),
};

both_engines!(a_job_that_breaks_off_within_is_a_failed_run_and_runs_again, |t| async {
    let a = TestApp::new(t);
    assert_eq!(a.app.run_job(&BREAKS, "node", None, goes_on()).await.unwrap(), Looked::Nothing);
    for _ in 0..2 {
        a.t.clock.advance_seconds(61);
        assert_eq!(a.app.run_job(&BREAKS, "node", None, goes_on()).await.unwrap(), Looked::Ran("failed"));
    }
    assert_eq!(a.t.count("job_runs WHERE outcome = 'failed' AND error IS NOT NULL").await, 2);
});
