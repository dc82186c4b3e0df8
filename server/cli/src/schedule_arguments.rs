//! What can be typed behind `restante schedule`.

use clap::{Args, Subcommand};

use crate::arguments::SettingFlags;

#[derive(Debug, Args)]
pub(crate) struct ScheduleArguments {
    #[command(subcommand)]
    pub(crate) command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// List the jobs with their last and next runs
    List(ListArguments),
    /// Have a job run now, on whichever server is first
    Run(RunArguments),
    /// Pass over a job's times until it is resumed; a run under way goes on
    Pause(JobArguments),
    /// Have a paused job go on at its times
    Resume(JobArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct JobArguments {
    /// The job, as `restante schedule list` names it
    #[arg(value_name = "JOB")]
    pub(crate) job: String,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The job, as `restante schedule list` names it
    #[arg(value_name = "JOB")]
    pub(crate) job: String,
    /// Wait for its end, so many seconds at most, and print what it did; ends with status 1 when it did not come to its end
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) wait: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}
