//! `pericope train`

mod adapt;
mod args;
mod data;
mod embed;
mod encoders;
mod hiercrf;
mod judge;
mod judge_data;
mod over_vectors;
mod report;
mod shared;
mod topic;
mod watch;

pub use args::TrainCommand;
pub use data::corpus;

use crate::status::Outcome;

/// Runs the command.
pub fn run(command: TrainCommand, quiet: bool) -> Outcome {
    match command {
        TrainCommand::Embed(args) => embed::run(&args, quiet),
        TrainCommand::Hiercrf(args) => hiercrf::run(&args, quiet),
        TrainCommand::Judge(args) => judge::run(&args, quiet),
        TrainCommand::Topic(args) => topic::run(&args, quiet),
        TrainCommand::Weswin(args) => encoders::weswin(args, quiet),
        TrainCommand::Nsp(args) => encoders::nsp(args, quiet),
    }
}
