//! What can be typed behind `restante backup`, `check` and `copy`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::SettingFlags;

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// The new file for the copy; nothing is replaced
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Serve a database again that went back, is a backup, or was moved elsewhere
    #[arg(long)]
    pub(crate) acknowledge_restore: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArguments {
    /// A file that holds the URL of an empty PostgreSQL database: postgres://user:password@host/database
    #[arg(long, value_name = "FILE", required_unless_present = "to")]
    pub(crate) to_file: Option<PathBuf>,
    /// The URL itself. It can be read by everyone on this machine while the command runs
    #[arg(long, value_name = "URL", conflicts_with = "to_file")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}
