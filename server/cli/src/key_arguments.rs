//! What can be typed behind `restante keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::SettingFlags;

#[derive(Debug, Args)]
pub(crate) struct KeysArguments {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// List the master keys with what each wraps, and the keys of tenants; never a byte of a key
    List(ListArguments),
    /// Add a new master key to the key file; it wraps nothing before it is activated
    Add(KeyFileArguments),
    /// Make a master key of the file the one that wraps; every server has to have loaded it before
    Activate(ActivateArguments),
    /// Wrap every key of tenants and people under the active master key; may be stopped and run again
    Rewrap(KeyFileArguments),
    /// Take a master key out of the file that wraps nothing any more
    Retire(RetireArguments),
    /// Give a tenant a new key; what the old one sealed stays readable
    RotateTenant(RotateArguments),
    /// Seal a tenant's secrets anew under its newest key, and destroy the older ones; may be stopped and run again
    Reseal(TenantArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Also the keys of this tenant, each
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct KeyFileArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ActivateArguments {
    /// The id of the master key, as `restante keys list` shows it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RetireArguments {
    /// The id of the master key, as `restante keys list` shows it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Write the key into this new file, to be kept for as long as a backup lives that needs it
    #[arg(long, value_name = "FILE", required_unless_present = "no_backup_needs_it")]
    pub(crate) keep_in: Option<PathBuf>,
    /// Forget the key: no backup from before `keys rewrap` will ever be restored
    #[arg(long, conflicts_with = "keep_in")]
    pub(crate) no_backup_needs_it: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

/// The classes of keys that rotate.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RotatingClass {
    /// What came in: bodies and headers
    Payload,
    /// Credentials: secrets of endpoints, tokens
    Secrets,
}

#[derive(Debug, Args)]
pub(crate) struct RotateArguments {
    /// The tenant's short name
    #[arg(value_name = "TENANT")]
    pub(crate) tenant: String,
    /// What the key is for
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: RotatingClass,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct TenantArguments {
    /// The tenant's short name
    #[arg(value_name = "TENANT")]
    pub(crate) tenant: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}
