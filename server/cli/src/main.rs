//! The one binary. Here is what can be typed; what it does is in `commands/`, one file a command.

mod arguments;
mod client;
mod commands;
mod data_folder;
mod disk;
mod failure;
mod figures;
mod instance;
mod key_arguments;
mod logging;
mod memory;
mod say;
mod schedule_arguments;
mod serving;
mod settings;
mod standing;
mod upkeep_arguments;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{AdminCommand, Arguments, Command, ReconcileCommand, RetentionCommand};
use failure::Failure;

fn main() -> ExitCode {
    memory::give_back_what_is_freed();
    // Two crates that do TLS would otherwise each choose a provider, and the second one panic.
    // An error says that there is one already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    // clap itself ends with status 2 on what it can't read.
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::note(&failure.to_string());
            ExitCode::from(failure.status)
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Serve(asked) => block_on(commands::serve::run(asked)),
        Command::Demo(asked) => block_on(commands::demo::run(asked)),
        #[cfg(feature = "bench")]
        Command::Fill(asked) => block_on(commands::demo::fill::run(asked)),
        Command::Bootstrap(asked) => block_on(commands::bootstrap::run(asked)),
        Command::Admin(asked) => match asked.command {
            AdminCommand::Link(asked) => block_on(commands::admin_link::run(asked)),
        },
        Command::Retention(asked) => match asked.command {
            RetentionCommand::Run(asked) => block_on(commands::retention_run::run(asked)),
        },
        Command::Schedule(asked) => block_on(commands::schedule::run(asked)),
        Command::Reconcile(asked) => match asked.command {
            ReconcileCommand::Run(asked) => block_on(commands::reconcile_run::run(asked)),
        },
        Command::Keys(asked) => block_on(commands::keys::run(asked)),
        Command::Backup(asked) => block_on(commands::backup::run(asked)),
        Command::Check(asked) => block_on(commands::check::run(asked)),
        Command::Copy(asked) => block_on(commands::copy::run(asked)),
        Command::Config(asked) => commands::config::run(&asked),
        Command::Healthcheck(asked) => block_on(commands::healthcheck::run(asked)),
        Command::Sign(asked) => commands::sign::run(&asked),
        Command::Verify(asked) => commands::verify::run(&asked),
    }
}

fn block_on(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("The program can't start its threads: {error}.")))?;
    let done = runtime.block_on(work);
    // What still runs was told to stop; nobody waits for it.
    runtime.shutdown_background();
    done
}
