//! The `pericope` command: arguments in, library calls, exit status out.
//!
//! Programs that want the library depend on `pericope`; this crate is for those that carry the command itself.
#![forbid(unsafe_code)]

#[macro_use]
mod terminal;

mod args;
mod commands;
#[cfg(feature = "testing")]
mod hashed;
mod help;
mod input;
mod interrupt;
mod limited;
mod places;
mod progress;
mod project;
mod resources;
mod session;
mod status;
mod stores;
mod unanswered;
pub mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Command};
use status::{Failure, Outcome};
use terminal::{Line, Style};

/// Runs the command with the arguments of this process, and returns its exit status.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os()))
}

/// Runs the command with these arguments, the first of which is its name, and returns its exit status. Wrong arguments, and
/// the flags that ask for help, end the process.
///
/// A program that is not the command's own says beforehand how it is started again ([`worker::started_by`]).
#[must_use]
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Started by this command itself, to read what may break whoever reads it.
    if arguments.get(1).is_some_and(|first| first == worker::FLAG) {
        pericope_read::serve();
    }
    let cli = Cli::from_arg_matches(&command().get_matches_from(arguments)).unwrap_or_else(|error| error.exit());
    let outcome = run(cli);
    pericope_util::stop_programs();
    match outcome {
        Ok(status) => status.code(),
        Err(failure) if is_broken_pipe(&failure) => 0,
        Err(failure) => {
            Line::styled(Style::Error, "error:").and(format_args!(" {failure}")).tell();
            failure.code()
        }
    }
}

/// Returns the command line as data: commands, flags and their help.
#[must_use]
pub fn command() -> clap::Command {
    help::flowing(Cli::command())
}

fn run(cli: Cli) -> Outcome {
    let quiet = cli.quiet;
    terminal::set_quiet(quiet);
    pericope::stores::on_notice(|text| tell!("{text}"));
    // What programs of the user's write, whatever command starts them; and none of them outlives this one.
    pericope_util::on_program_line(|line| tell!("{line}"));
    pericope_util::on_program_start(interrupt::end_programs);
    // Whatever command asks an endpoint: a server that asks to wait is named.
    pericope_llm::on_notice(move |text| {
        if !quiet {
            tell!("{text}");
        }
    });
    match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Segment(args) => commands::segment::run(args, quiet),
        Command::SegmentEval(args) => commands::segment_eval::run(args, quiet),
        Command::Init(args) => commands::init::run(args, quiet),
        Command::Index(args) => commands::index::run(args, quiet),
        Command::Search(args) => commands::search::run(args),
        Command::Serve(args) => commands::serve::run(args),
        Command::Mcp(args) => commands::mcp::run(args),
        Command::Keys(command) => commands::serve::keys::run(command),
        Command::Compare(args) => commands::compare::run(&args, quiet),
        Command::Eval(command) => commands::eval::run(command, quiet),
        Command::Nightly(args) => commands::nightly::run(args, quiet),
        Command::Dataset(command) => commands::dataset::run(command, quiet),
        Command::Train(command) => commands::train::run(command, quiet),
        Command::Tune(args) => commands::tune::run(args, quiet),
        Command::Models(args) => commands::models::run(args, quiet),
        Command::Segmenters { json } => commands::segmenters::run(json),
        Command::Rerankers { json } => commands::rerankers::run(json),
        Command::Completions { shell } => commands::completions(shell),
    }
}

/// `pericope ... | head` closes the pipe: no error.
fn is_broken_pipe(failure: &Failure) -> bool {
    let (Failure::Usage(error) | Failure::Runtime(error)) = failure;
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
