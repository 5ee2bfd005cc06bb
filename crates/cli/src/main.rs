//! The `pericope` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pericope_cli::main()
}
