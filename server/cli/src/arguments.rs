//! What can be typed. The texts here are the help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::failure::Failure;
use crate::key_arguments::KeysArguments;
use crate::schedule_arguments::ScheduleArguments;
use crate::settings::{AllGiven, Settings, Sources, gather};
use crate::upkeep_arguments::{BackupArguments, CheckArguments, CopyArguments};

/// Receives webhooks, verifies them, keeps them, and hands them to applications.
#[derive(Debug, Parser)]
#[command(name = "restante", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server. No setting is needed: SQLite and a master key are made under ./data
    Serve(SettingFlags),
    /// Run the server on a throw-away folder, with endpoints and sample traffic, to look around
    Demo(DemoArguments),
    /// Fill an empty database with the demo's week, repeated into the past, for measurements
    #[cfg(feature = "bench")]
    Fill(FillArguments),
    /// Make a tenant, its owner and an API key, for scripts; beside a running server or before its first start
    Bootstrap(BootstrapArguments),
    /// Help people who can't sign in
    Admin(AdminArguments),
    /// Remove what the policies of retention no longer keep
    Retention(RetentionArguments),
    /// Look at the jobs that run by themselves, run one now, pause or resume one
    Schedule(ScheduleArguments),
    /// Ask the provider of an endpoint what it sent, and insert what never arrived
    Reconcile(ReconcileArguments),
    /// Change the master key without a pause, and rotate the keys of tenants
    Keys(KeysArguments),
    /// Copy the SQLite database into a new file, beside a running server; for PostgreSQL, say what does
    Backup(BackupArguments),
    /// Look whether the instance is sound; ends with status 1 when it is not
    Check(CheckArguments),
    /// Move an instance from SQLite into an empty PostgreSQL database; may be stopped and run again
    Copy(CopyArguments),
    /// Print the settings that are in force, and where each comes from
    Config(ConfigArguments),
    /// Ask the server on this machine whether it can commit; ends with status 1 when it can't
    Healthcheck(SettingFlags),
    /// Sign a body as a provider would, and print the curl command that sends it
    Sign(SignArguments),
    /// Verify requests that stand with their secrets in lines of JSON; needs no server and no database
    Verify(VerifyArguments),
}

/// Settings as flags. Each can also be a variable (RESTANTE_LISTEN) or stand in restante.toml.
#[derive(Debug, Args, Default)]
pub(crate) struct SettingFlags {
    /// The file with settings; without it restante.toml in this folder, when it is there
    #[arg(long, value_name = "FILE", env = "RESTANTE_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// The address to listen on [RESTANTE_LISTEN; 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// How the world reaches this server [RESTANTE_PUBLIC_URL; the address it listens on]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The folder for the database and the master key [RESTANTE_DATA_DIR; ./data]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<String>,
    /// postgres://… or sqlite:FILE [RESTANTE_DATABASE_URL; SQLite in the data folder]. A flag can be
    /// read by everyone on this machine; a password belongs into the variable or a file
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// The master key, when it lies elsewhere [RESTANTE_MASTER_KEY_FILE]
    #[arg(long, value_name = "FILE")]
    master_key_file: Option<String>,
    /// A separate address for /metrics, /healthz and /readyz [RESTANTE_METRICS_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    /// Proxies whose X-Forwarded-For is believed, as ranges [RESTANTE_TRUSTED_PROXIES]
    #[arg(long, value_name = "CIDR,…")]
    trusted_proxies: Option<String>,
    /// Private ranges that pushes and reconciliation may reach [RESTANTE_OUTBOUND_ALLOW_CIDRS; none]
    #[arg(long, value_name = "CIDR,…")]
    outbound_allow_cidrs: Option<String>,
}

impl SettingFlags {
    /// The settings in force, and those that were given.
    ///
    /// # Errors
    /// When something is not known or not right.
    pub(crate) fn settings(&self) -> Result<(Settings, AllGiven), Failure> {
        let folder = std::env::current_dir()
            .map_err(|error| Failure::new(format!("The current folder can't be found: {error}.")))?;
        let given = gather(&Sources {
            flags: self.given(),
            variables: std::env::vars_os().collect(),
            file: self.config.clone(),
            folder: folder.clone(),
        })?;
        let settings = Settings::read(&given, &folder)?;
        Ok((settings, given))
    }

    fn given(&self) -> Vec<(&'static str, String)> {
        [
            ("listen", &self.listen),
            ("public_url", &self.public_url),
            ("data_dir", &self.data_dir),
            ("database_url", &self.database_url),
            ("master_key_file", &self.master_key_file),
            ("metrics_listen", &self.metrics_listen),
            ("trusted_proxies", &self.trusted_proxies),
            ("outbound_allow_cidrs", &self.outbound_allow_cidrs),
        ]
        .into_iter()
        .filter_map(|(name, flag)| flag.clone().map(|text| (name, text)))
        .collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// The address to listen on; a free port when this one is taken
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: std::net::SocketAddr,
}

#[cfg(feature = "bench")]
#[derive(Debug, Args)]
pub(crate) struct FillArguments {
    /// Receipts to be there, about
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000)]
    pub(crate) receipts: u32,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct BootstrapArguments {
    /// The new tenant's short name: lower-case letters, digits and hyphens
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: String,
    /// The e-mail address of its owner
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) email: String,
    /// Read the owner's password from standard input; one newline at its end is not part of it
    #[arg(long, required = true)]
    pub(crate) password_stdin: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct AdminArguments {
    #[command(subcommand)]
    pub(crate) command: AdminCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Make a one-time link for a person who lost their password or second factor, or the set-up link
    Link(LinkArguments),
}

#[derive(Debug, Args)]
pub(crate) struct LinkArguments {
    /// The person's e-mail address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) email: String,
    /// Also take the second factor away, when the link is used
    #[arg(long)]
    pub(crate) without_second_factor: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RetentionArguments {
    #[command(subcommand)]
    pub(crate) command: RetentionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RetentionCommand {
    /// Do now what the schedule does: payloads first, then keys. Safe to end at any moment and to run again
    Run(RetentionRunArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RetentionRunArguments {
    /// The time to take for now, in RFC 3339. A time that lies ahead removes what would be due then: look with
    /// --dry-run first. The present time says that the clock is right
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Tell what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ReconcileArguments {
    #[command(subcommand)]
    pub(crate) command: ReconcileCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReconcileCommand {
    /// Do one run now, behind one that is under way, and wait for its end. Safe to end at any moment
    Run(ReconcileRunArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ReconcileRunArguments {
    /// The tenant's short name
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: String,
    /// The endpoint: ep_…
    #[arg(long, value_name = "ID")]
    pub(crate) endpoint: String,
    /// From when on, in RFC 3339; without it, what any run looks at, and the last two days at least
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Up to when, in RFC 3339; without it, until now
    #[arg(long, value_name = "TIME", requires = "from")]
    pub(crate) to: Option<String>,
    /// Insert what is listed even if all of it is missing. Otherwise such a run ends, since the credentials may be
    /// another account's
    #[arg(long)]
    pub(crate) trusting: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct SignArguments {
    /// The provider, as in GET /v1/providers: stripe, github, custom …
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: String,
    /// The endpoint's secret, as it was pasted there
    #[arg(long, value_name = "TEXT", required_unless_present = "secret_file")]
    pub(crate) secret: Option<String>,
    /// A file that holds the secret
    #[arg(long, value_name = "FILE", conflicts_with = "secret")]
    pub(crate) secret_file: Option<PathBuf>,
    /// The endpoint's URL
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
    /// The body; without it, a sample of the provider's
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["data_file", "sample"])]
    pub(crate) data: Option<String>,
    /// A file that holds the body
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    pub(crate) data_file: Option<PathBuf>,
    /// Which sample; without it, the provider's first
    #[arg(long, value_name = "NAME")]
    pub(crate) sample: Option<String>,
    /// The event id to put into the sample
    #[arg(long, value_name = "TEXT")]
    pub(crate) id: Option<String>,
    /// The event type to put into the sample
    #[arg(long = "type", value_name = "TEXT")]
    pub(crate) event_type: Option<String>,
    /// The endpoint's options as JSON, as for a custom sender: {"verify":{…}}
    #[arg(long, value_name = "JSON")]
    pub(crate) options: Option<String>,
    /// The time of signing in RFC 3339; without it, now
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Print method, URL, headers and body as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Read lines of JSON from standard input and print a verdict for each
    #[arg(long, required = true)]
    pub(crate) json_lines: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_commands_fit_together() {
        Arguments::command().debug_assert();
    }
}
