//! `pericope-fuzz`: runs targets without guidance, replays inputs, lists what there is.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use pericope_fuzz::runner::{self, Options};
use pericope_fuzz::{READ_WORKER, TARGETS, Target, find};

#[derive(Parser)]
#[command(about = "Feeds Pericope's readers of foreign bytes with inputs that nobody would write")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the targets
    List,
    /// Runs targets on their seeds and on changes to them; status 1 where there are findings
    Run {
        /// A target; all where none is named
        #[arg(long)]
        target: Vec<String>,
        /// Seconds a target
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
        /// Targets at once; the number of cores by default
        #[arg(long)]
        jobs: Option<usize>,
        /// Seed of the changes
        #[arg(long, default_value_t = 7)]
        seed: u64,
        /// Folder for the inputs of findings
        #[arg(long, default_value = "target/fuzz/bounded")]
        folder: PathBuf,
    },
    /// Runs one input and shows the panic, if there is one
    One {
        /// The target
        target: String,
        /// The file with the input
        file: PathBuf,
    },
    /// Prints the words of a target in the form of libFuzzer's dictionaries
    Words {
        /// The target
        target: String,
    },
    /// The process of one target, started by `run`
    #[command(hide = true)]
    Worker { target: String, seconds: f64, seed: u64, folder: PathBuf },
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == READ_WORKER) {
        pericope_read::serve();
    }
    match started(Arguments::parse().command) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn started(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::List => TARGETS.iter().for_each(|target| println!("{:16} {}", target.name, target.about)),
        Command::Run { target, seconds, jobs, seed, folder } => {
            let targets: Vec<&'static Target> = match target.is_empty() {
                true => TARGETS.iter().collect(),
                false => target.iter().map(|name| named(name)).collect::<Result<_, _>>()?,
            };
            let cores = || std::thread::available_parallelism().map_or(1, usize::from);
            let options = Options { seconds, jobs: jobs.unwrap_or_else(cores), seed, folder };
            let program = std::env::current_exe().map_err(|e| e.to_string())?;
            let outcomes = runner::run(&program, &targets, &options).map_err(|e| e.to_string())?;
            print!("{}", runner::table(&outcomes));
            for outcome in &outcomes {
                outcome.findings.iter().for_each(|finding| println!("{}: {finding}", outcome.target));
            }
            if outcomes.iter().any(|outcome| !outcome.findings.is_empty()) {
                return Ok(ExitCode::from(1));
            }
        }
        Command::One { target, file } => {
            let data = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            (named(&target)?.run)(&data);
        }
        Command::Words { target } => {
            for (i, word) in named(&target)?.words.iter().enumerate() {
                let escaped: String = word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
                println!("word{i}=\"{escaped}\"");
            }
        }
        Command::Worker { target, seconds, seed, folder } => {
            runner::work(&target, seconds, seed, &folder).map_err(|e| e.to_string())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn named(name: &str) -> Result<&'static Target, String> {
    find(name).ok_or_else(|| format!("there is no target {name:?}; `pericope-fuzz list` names all"))
}
