//! `pericope models`

use pericope_encode::models::{self, InstallState, ModelError, Progress};
use serde::Serialize;

use crate::args::ModelsCommand;
use crate::commands::print_json;
use crate::progress;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name as name_on_line;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    state: &'static str,
    bytes: u64,
    path: String,
    purpose: &'static str,
}

/// Runs the command.
pub fn run(command: ModelsCommand, quiet: bool) -> Outcome {
    match command {
        ModelsCommand::List { json } => list(json),
        ModelsCommand::Pull { name } => pull(&name, quiet),
        ModelsCommand::Verify { name } => verify(name.as_deref()),
    }
}

fn list(json: bool) -> Outcome {
    let rows = models::list().map_err(Failure::usage)?;
    if json {
        let rows: Vec<Row> = rows
            .iter()
            .map(|row| Row {
                name: row.name,
                state: label(row.state),
                bytes: row.bytes,
                path: row.path.display().to_string(),
                purpose: row.purpose,
            })
            .collect();
        return print_json(&rows);
    }
    for row in &rows {
        say!(
            "{:<10} {:<10} {:>6.1} MB  {}\n{:21}{}",
            row.name,
            label(row.state),
            row.bytes as f64 / 1e6,
            row.purpose,
            "",
            shown(&row.path)
        );
        if row.state != InstallState::Installed {
            say!("{:21}get it with: pericope models pull {}", "", row.name);
        }
    }
    Ok(Status::Done)
}

fn label(state: InstallState) -> &'static str {
    match state {
        InstallState::Installed => "installed",
        InstallState::Partial => "partial",
        InstallState::Absent => "absent",
    }
}

fn pull(name: &str, quiet: bool) -> Outcome {
    #[cfg(feature = "fastembed")]
    if let Some(model) = name.strip_prefix("fastembed:") {
        let folder = pericope_encode::fastembed::pull(model, !quiet).map_err(Failure::runtime)?;
        if !quiet {
            tell!("{name} is installed: {}", shown(&folder));
        }
        return Ok(Status::Done);
    }
    let bar = progress::bytes(0, &format!("pulling {name}"), quiet);
    let result = models::pull(name, &mut |step| match step {
        Progress::Note(text) if !quiet => bar.suspend(|| tell!("{text}")),
        Progress::Bytes { file, done, total } => {
            bar.set_message(name_on_line(file).into_owned());
            bar.set_length(total);
            bar.set_position(done);
        }
        _ => {}
    });
    bar.finish_and_clear();
    let dir = result.map_err(by_kind)?;
    if !quiet {
        tell!("{name} is installed and checked: {}", shown(&dir.path));
    }
    Ok(Status::Done)
}

fn verify(name: Option<&str>) -> Outcome {
    let names: Vec<String> = match name {
        Some(name) => vec![name.to_owned()],
        None => {
            let rows = models::list().map_err(Failure::usage)?;
            rows.iter().filter(|r| r.state != InstallState::Absent).map(|r| r.name.to_owned()).collect()
        }
    };
    if names.is_empty() {
        say!("no model is installed; `pericope models pull minilm` gets one");
    }
    let mut status = Status::Done;
    for name in names {
        match models::verify(&name) {
            Ok(dir) => {
                say!("{name}: all files are right ({})", shown(&dir.path));
            }
            Err(error @ ModelError::Checksum { .. }) => {
                say!("{name}: {error}");
                status = Status::Incomplete;
            }
            Err(error) => return Err(by_kind(error)),
        }
    }
    Ok(status)
}

/// A name that nobody knows and a model that is not there are the user's to mend; the rest went wrong while running.
fn by_kind(error: ModelError) -> Failure {
    match error {
        ModelError::Unknown { .. } | ModelError::Missing { .. } | ModelError::NoHome => Failure::usage(error),
        other => Failure::runtime(other),
    }
}
