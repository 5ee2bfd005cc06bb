//! `pericope models`

mod args;
mod distil;

pub use args::ModelsCommand;

use pericope_encode::models::{self, InstallState, KnownEmbedder, Listed, ModelError, Progress};
use serde::Serialize;

use crate::commands::print_json;
use crate::progress;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name as name_on_line;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    state: &'static str,
    /// Null where they are not known before they are here.
    bytes: Option<u64>,
    path: String,
    purpose: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder: Option<Embedder>,
}

/// What is known of an embedding model of the hub.
#[derive(Serialize)]
struct Embedder {
    repository: &'static str,
    family: &'static str,
    pooling: &'static str,
    dimensions: usize,
    matryoshka: bool,
    window: usize,
    query: &'static str,
    passage: &'static str,
    licence: &'static str,
    languages: &'static str,
    aliases: &'static [&'static str],
}

impl Embedder {
    fn of(model: &KnownEmbedder) -> Self {
        Self {
            repository: model.hub,
            family: model.family,
            pooling: model.pooling,
            dimensions: model.dimensions,
            matryoshka: model.is_matryoshka,
            window: model.window,
            query: model.query,
            passage: model.passage,
            licence: model.licence,
            languages: model.languages,
            aliases: model.aliases,
        }
    }
}

/// Runs the command.
pub fn run(command: ModelsCommand, quiet: bool) -> Outcome {
    match command {
        ModelsCommand::List { json } => list(json),
        ModelsCommand::Pull { name } => pull(&name, quiet),
        ModelsCommand::Distil { model, out, dimension, json } => {
            distil::run(&model, out, dimension as usize, json, quiet)
        }
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
                embedder: row.embedder.map(Embedder::of),
            })
            .collect();
        return print_json(&rows);
    }
    for row in rows.iter().filter(|row| row.embedder.is_none()) {
        say!(
            "{:<10} {:<10} {:>6.1} MB  {}\n{:21}{}",
            row.name,
            label(row.state),
            megabytes(row),
            row.purpose,
            "",
            shown(&row.path)
        );
        if row.state != InstallState::Installed {
            say!("{:21}get it with: pericope models pull {}", "", row.name);
        }
    }
    say!(
        "\nOf the Hugging Face hub, for --embedder NAME once `pericope models pull NAME` got it (prompts: with --json)"
    );
    let widest = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &rows {
        let Some(model) = row.embedder else { continue };
        let size = if row.bytes.is_some() { format!(", {:.1} MB", megabytes(row)) } else { String::new() };
        say!(
            "{:<widest$}  {:<9}  {:>4} numbers  {:>5} tokens  {:<11}  {:<10}  {}  {}{size}",
            row.name,
            label(row.state),
            model.dimensions,
            model.window,
            model.family,
            model.licence,
            model.languages,
            model.hub,
        );
    }
    Ok(Status::Done)
}

fn megabytes(row: &Listed) -> f64 {
    row.bytes.unwrap_or(0) as f64 / 1e6
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
    if name == distil::STATIC {
        fetch("minilm", quiet)?;
        return distil::run("minilm", None, distil::DIMENSION, false, quiet);
    }
    fetch(name, quiet)?;
    Ok(Status::Done)
}

/// Fetches a published model and says where it is.
fn fetch(name: &str, quiet: bool) -> Result<(), Failure> {
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
    Ok(())
}

fn verify(name: Option<&str>) -> Outcome {
    let asked = name.is_some();
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
        if name == distil::STATIC {
            // Made on this machine: no checksum says what it must hold.
            match pericope_encode::StaticVectors::load(&models::static_vectors().map_err(by_kind)?) {
                Ok(_) => say!("{name}: can be read; it was made on this machine, and has no published checksum"),
                Err(error) => {
                    say!("{name}: {error}; make it again: pericope models pull static");
                    status = Status::Incomplete;
                }
            }
            continue;
        }
        match models::verify(&name) {
            Ok(dir) => {
                say!("{name}: all files are right ({})", shown(&dir.path));
            }
            Err(error @ ModelError::Checksum { .. }) => {
                say!("{name}: {error}");
                status = Status::Incomplete;
            }
            // One that was asked for is the reason of the command; among all, the others are looked at too.
            Err(error) if asked => return Err(by_kind(error)),
            Err(error) => {
                say!("{name}: {error}");
                status = Status::Incomplete;
            }
        }
    }
    Ok(status)
}

/// A name that nobody knows, a model that is not there and a folder that holds another are the user's to mend; the rest went
/// wrong while running.
fn by_kind(error: ModelError) -> Failure {
    match error {
        ModelError::Unknown { .. } | ModelError::Missing { .. } | ModelError::NoHome | ModelError::Taken { .. } => {
            Failure::usage(error)
        }
        other => Failure::runtime(other),
    }
}
