//! What can be asked of a run on the command line. The defaults are the full comparison.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures Restante against itself without a commit, against one transaction a request, and against the handler
/// that a careful team writes by hand, all on this machine and in one run.
#[derive(Debug, Parser)]
#[command(name = "restante-bench", version)]
pub(crate) struct Settings {
    /// Engines to measure.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["postgres", "sqlite"])]
    pub(crate) engines: Vec<Engine>,
    /// What to measure on each engine; the hand-written handlers always run on PostgreSQL.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["restante", "none", "single", "handwritten"])]
    pub(crate) contenders: Vec<Kind>,
    /// Open connections, one table row each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
    pub(crate) connections: Vec<usize>,
    /// Rounds; the tables show medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=15))]
    pub(crate) rounds: u32,
    /// Length of the measured part of a round, in seconds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub(crate) seconds: u64,
    /// Load before the measured part of each round, in seconds.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=30))]
    pub(crate) warm_up_seconds: u64,
    /// How often a round is run again when other programs on the machine disturbed it.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub(crate) repeat_disturbed: u32,
    /// Let each flush to the disk take this much longer, as on a disk over a network. Needs a C compiler.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=100_000))]
    pub(crate) flush_extra_microseconds: u64,
    /// Leave out claim and ack.
    #[arg(long)]
    pub(crate) no_pull: bool,
    /// Leave out receiving; claim and ack only.
    #[arg(long)]
    pub(crate) no_receive: bool,
    /// Batch sizes of claim and ack.
    #[arg(long, value_delimiter = ',', default_values_t = [50, 500])]
    pub(crate) pull_batches: Vec<usize>,
    /// Applications that claim and ack at once, a measurement each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4])]
    pub(crate) pull_workers: Vec<usize>,
    /// Events that lie ready for each measurement of claim and ack.
    #[arg(long, default_value_t = 60_000, value_parser = clap::value_parser!(u32).range(1_000..=1_000_000))]
    pub(crate) pull_events: u32,
    /// Connections of the hand-written handler's pool to PostgreSQL, a process.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) handwritten_pool: u32,
    /// Processes of the hand-written handler.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) handwritten_workers: u32,
    /// The restante binary, built with `--features bench`; by default the one beside this program.
    #[arg(long)]
    pub(crate) server: Option<PathBuf>,
    /// Where data and logs go during the run; must be a real disk, and is removed afterwards.
    #[arg(long)]
    pub(crate) work_dir: Option<PathBuf>,
    /// Keep the data and logs.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Write every round as JSON to this file.
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// Exit with status 1 when a target is missed, too.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Where Restante keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Engine {
    /// PostgreSQL.
    Postgres,
    /// The embedded SQLite.
    Sqlite,
}

impl Engine {
    /// The name that people read.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
        }
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Kind {
    /// Restante as it is.
    Restante,
    /// Restante without a commit: verify, seal, answer.
    None,
    /// Restante with one transaction a request.
    Single,
    /// The hand-written handler; one statement is its transaction.
    Handwritten,
    /// The hand-written handler with BEGIN, INSERT and COMMIT as three statements.
    HandwrittenTransaction,
}

impl Kind {
    /// The name that people read.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Restante => "Restante",
            Self::None => "(a) Restante, no commit",
            Self::Single => "(b) Restante, a transaction a request",
            Self::Handwritten => "(c) Express + pg",
            Self::HandwrittenTransaction => "(c) Express + pg, BEGIN … COMMIT",
        }
    }

    /// Whether it runs once for all engines, on PostgreSQL.
    pub(crate) fn is_handwritten(self) -> bool {
        matches!(self, Self::Handwritten | Self::HandwrittenTransaction)
    }
}
