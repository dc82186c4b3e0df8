//! How the instance is. Each figure says what is normal, and what to do when it isn't.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use restante_app::administration::health::{Health, Verdict};
use restante_core::time::Timestamp;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::amount::{bytes, counted, number};
use crate::parts::badge::Badge;
use crate::parts::moment::{Moment, span_micros};
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

#[derive(Template)]
#[template(path = "admin/health/show.html")]
struct HealthPage {
    shell: Shell,
    version: &'static str,
    started: Moment,
    worst: Badge,
    groups: Vec<Group>,
    master_keys: Vec<MasterKeyLine>,
    destroyed_keys: Option<String>,
}

/// Figures of one kind.
#[derive(Debug, Clone)]
struct Group {
    title: &'static str,
    figures: Vec<Figure>,
}

/// A figure.
#[derive(Debug, Clone)]
struct Figure {
    title: &'static str,
    value: String,
    more: String,
    badge: Option<Badge>,
    normal: &'static str,
    otherwise: &'static str,
}

#[derive(Debug, Clone)]
struct MasterKeyLine {
    id: String,
    state: &'static str,
    keys: String,
    badge: Badge,
}

impl Page for HealthPage {}

pub(crate) async fn show(State(web): State<Web>, person: Person) -> Result<Response, Fault> {
    let health = web.app.health(&person.actor()).await?;
    Ok(answer(&view(person.shell(Area::AdminHealth), &health, web.app.clock.now())))
}

const fn badge(verdict: Verdict) -> Badge {
    match verdict {
        Verdict::Good => Badge::NORMAL,
        Verdict::Look => Badge::LOOK,
        Verdict::Bad => Badge::ACT,
    }
}

fn view(shell: Shell, health: &Health, now: Timestamp) -> HealthPage {
    let verdicts = [
        Some(health.schema()),
        health.disk(),
        health.commits(),
        Some(health.queue()),
        Some(health.database_connections()),
        Some(health.clock()),
        Some(health.keys()),
    ];
    HealthPage {
        shell,
        version: env!("CARGO_PKG_VERSION"),
        started: Moment::new(health.started_at, now),
        worst: badge(verdicts.into_iter().flatten().max().unwrap_or(Verdict::Good)),
        groups: vec![
            Group { title: "Database", figures: database(health) },
            Group { title: "Receiving, at this node", figures: receiving(health) },
            Group { title: "Clocks", figures: clocks(health) },
        ],
        master_keys: health
            .master_keys
            .iter()
            .map(|key| MasterKeyLine {
                id: key.id.clone(),
                state: match (key.loaded, key.id == health.active_master_key) {
                    (true, true) => "wraps new keys",
                    (true, false) => "only opens",
                    (false, _) => "not loaded",
                },
                keys: number(key.keys),
                badge: badge(if key.loaded || key.keys == 0 { Verdict::Good } else { Verdict::Bad }),
            })
            .collect(),
        destroyed_keys: (health.destroyed_keys > 0).then(|| counted(health.destroyed_keys, "key", "keys")),
    }
}

fn database(health: &Health) -> Vec<Figure> {
    let (vitals, pool) = (&health.vitals, &health.pool);
    let mut figures = vec![
        Figure {
            title: "Engine",
            value: format!("{} {}", health.engine, vitals.version),
            more: String::new(),
            badge: None,
            normal: "SQLite 3.51.3 or newer, or PostgreSQL 14 or newer; the server does not start on an older one.",
            otherwise: "Nothing to do.",
        },
        Figure {
            title: "Migrations",
            value: number(vitals.migrations),
            more: format!(
                "the last one is {}, this program knows up to {}",
                vitals.migrated_to, health.migrations_known.0
            ),
            badge: Some(badge(health.schema())),
            normal: "The database is at the last migration that this program knows.",
            otherwise: "A newer program has brought the tables further. Run that version on every node.",
        },
        Figure {
            title: "Size",
            value: bytes(vitals.bytes),
            more: vitals
                .free_bytes
                .map(|free| format!("{} of it free for new rows", bytes(free)))
                .unwrap_or_default(),
            badge: None,
            normal: "It grows with what is held, and what is removed makes room for new rows.",
            otherwise: "Look at Tenants for who holds most, and set a limit where there should be one.",
        },
    ];
    figures.push(match health.disk {
        Some(disk) => Figure {
            title: "Room on the disk",
            value: format!("{} free", bytes(disk.free)),
            more: format!("of {}", bytes(disk.total)),
            badge: health.disk().map(badge),
            normal: "At least 15 % free.",
            otherwise: "Make room or grow the disk before it is full: a full disk is answered 503, and nothing that was acknowledged is lost.",
        },
        None => Figure {
            title: "Room on the disk",
            value: "not known here".to_owned(),
            more: String::new(),
            badge: None,
            normal: "The disk of a PostgreSQL server can’t be seen from here.",
            otherwise: "Watch it where PostgreSQL runs, with an alarm at 15 % free.",
        },
    });
    let server =
        vitals.connections.map(|(open, most)| format!("; the server has {open} of {most} for this database"));
    figures.push(Figure {
        title: "Connections to the database",
        value: format!("{} open, {} idle", pool.open, pool.idle),
        more: format!("of {} at this node{}", pool.most, server.unwrap_or_default()),
        badge: Some(badge(health.database_connections())),
        normal: "Some are idle, and the server has room for the nodes that may come.",
        otherwise: "On PostgreSQL raise postgres_connections_max here, or max_connections there. On SQLite pages wait a little.",
    });
    figures
}

fn receiving(health: &Health) -> Vec<Figure> {
    let latency = health.latency;
    vec![
        Figure {
            title: "Commit, median",
            value: latency.map_or_else(|| "none yet".to_owned(), |one| precise(one.p50_micros)),
            more: latency
                .map(|one| format!("of the last {}", counted(one.commits as u64, "delivery", "deliveries")))
                .unwrap_or_default(),
            badge: None,
            normal: "A few milliseconds: from the committer’s queue to the disk.",
            otherwise: "It is as slow as the disk or the link to the database.",
        },
        Figure {
            title: "Commit, 99th percentile",
            value: latency.map_or_else(|| "none yet".to_owned(), |one| precise(one.p99_micros)),
            more: "one in a hundred takes as long".to_owned(),
            badge: health.commits().map(badge),
            normal: "Less than a quarter of a second.",
            otherwise: "Something else writes to the same disk, or PostgreSQL waits for a lock or a standby. From four seconds on senders get 503.",
        },
        Figure {
            title: "Queue",
            value: number(health.queue_depth),
            more: "records wait for the disk".to_owned(),
            badge: Some(badge(health.queue())),
            normal: "None or a few; a burst is worked off in a moment.",
            otherwise: "Commits are slower than what comes. When it is full senders get 503 and come again.",
        },
        Figure {
            title: "Open connections of clients",
            value: number(health.connections),
            more: String::new(),
            badge: None,
            normal: "Below connections_max, by default 2,000; further ones wait.",
            otherwise: "Raise connections_max and the limit of open files, or look who opens so many.",
        },
    ]
}

fn clocks(health: &Health) -> Vec<Figure> {
    let micros = health.clock_ahead_micros;
    let way = if micros >= 0 { "ahead" } else { "behind" };
    vec![Figure {
        title: "This machine against the database",
        value: format!("{} {way}", span_micros(micros.saturating_abs())),
        more: String::new(),
        badge: Some(badge(health.clock())),
        normal: "Less than two seconds. With SQLite both are one clock.",
        otherwise: "Synchronise the clocks (NTP) here and there. Signed times are judged by this clock, leases by the database’s.",
    }]
}

/// `412 µs`, `3.4 ms`, then as everywhere.
fn precise(micros: u64) -> String {
    match micros {
        ..1_000 => format!("{micros} µs"),
        1_000..100_000 => format!("{}.{} ms", micros / 1_000, micros / 100 % 10),
        _ => span_micros(i64::try_from(micros).unwrap_or(i64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use restante_app::administration::health::{DiskSpace, MasterKeyUse};
    use restante_app::figures::Latency;
    use restante_store::both_engines;
    use restante_store::vitals::{PoolUse, Vitals};

    use super::*;
    use crate::parts::samples;
    use crate::testing::Site;

    fn sample(text: &str, bad: bool) -> Health {
        Health {
            engine: "SQLite",
            vitals: Vitals {
                version: text.to_owned(),
                bytes: u64::MAX,
                free_bytes: bad.then_some(1),
                migrated_to: 12,
                migrations: 12,
                connections: bad.then_some((99, 100)),
            },
            migrations_known: (12, 12),
            disk: bad.then_some(DiskSpace { free: 1, total: 100 }),
            latency: bad.then_some(Latency { p50_micros: 412, p99_micros: 3_000_000, commits: 1 }),
            queue_depth: 4_000,
            connections: 7,
            pool: PoolUse { open: 4, idle: 1, most: 4 },
            clock_ahead_micros: if bad { i64::MIN } else { 412_000 },
            active_master_key: "00".repeat(8),
            master_keys: vec![
                MasterKeyUse { id: "00".repeat(8), loaded: true, keys: 3 },
                MasterKeyUse { id: text.to_owned(), loaded: false, keys: 1 },
            ],
            destroyed_keys: u64::from(bad),
            started_at: Timestamp::from_seconds(1_796_040_000),
        }
    }

    #[test]
    fn the_page_stands_good_and_bad_and_each_figure_says_what_to_do() {
        let now = Timestamp::from_seconds(1_796_043_600);
        for text in ["3.51.3", samples::HOSTILE, &samples::long()] {
            for bad in [false, true] {
                let page = view(Shell::hostile(Area::AdminHealth), &sample(text, bad), now);
                for figure in page.groups.iter().flat_map(|group| &group.figures) {
                    assert!(
                        figure.normal.ends_with('.') && figure.otherwise.ends_with('.'),
                        "{}",
                        figure.title
                    );
                }
                samples::check(&page.render().unwrap());
            }
        }
    }

    #[test]
    fn short_times_keep_their_digits() {
        for (micros, told) in
            [(0, "0 µs"), (412, "412 µs"), (3_460, "3.4 ms"), (412_000, "412 ms"), (1_500_000, "1.5 s")]
        {
            assert_eq!(precise(micros), told);
        }
    }

    both_engines!(the_health_page_shows_this_instance, |t| async {
        let site = Site::new(t);
        site.a.tenant("first").await;
        let got = site.owner("first").await.get("/admin/health").await;
        assert_eq!(got.status, 200);
        assert!(
            got.text.contains(site.a.t.engine().name()) && got.text.contains("wraps new keys"),
            "{}",
            got.text
        );
    });
}
