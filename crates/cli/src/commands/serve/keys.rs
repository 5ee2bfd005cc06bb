//! `pericope keys`

use std::path::Path;

use pericope_serve::http::keys::{KeyError, KeyFile, Scope};
use serde::Serialize;

use super::KeysCommand;
use super::args::ScopeArg;
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::Line;

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    scope: String,
}

/// Runs the command.
pub fn run(command: KeysCommand) -> Outcome {
    match command {
        KeysCommand::Add { file, name, scope } => add(&file, &name, scope),
        KeysCommand::List { file, json } => list(&file, json),
        KeysCommand::Remove { file, name } => remove(&file, &name),
    }
}

fn add(path: &Path, name: &str, scope: ScopeArg) -> Outcome {
    let scope = match scope {
        ScopeArg::Search => Scope::Search,
        ScopeArg::Admin => Scope::Admin,
    };
    let mut unsaid = None;
    let added = KeyFile::change(path, |file| {
        let key = file.add(name, scope)?;
        // Before it is in the file: a key that nobody saw is of no use, and its name would be taken.
        Line::text(&key).say().map_err(|error| {
            let reason = error.to_string();
            unsaid = Some(error);
            reason
        })
    });
    if let Some(error) = unsaid {
        return Err(error.into());
    }
    added.map_err(failure)?;
    tell!("{}: the key {name} ({scope}) was added; the line above is shown this once", shown(path));
    Ok(Status::Done)
}

fn list(path: &Path, json: bool) -> Outcome {
    let file = KeyFile::read(path).map_err(failure)?;
    if json {
        let rows = file.entries().iter().map(|key| Row { name: &key.name, scope: key.scope.to_string() });
        return print_json(&rows.collect::<Vec<_>>());
    }
    for key in file.entries() {
        say!("{}  {}", key.name, key.scope);
    }
    Ok(Status::Done)
}

fn remove(path: &Path, name: &str) -> Outcome {
    let removed = |file: &mut KeyFile| match file.remove(name) {
        true => Ok(()),
        false => Err(format!("there is no key called {name}")),
    };
    // A file that is not there is an error, and not made.
    KeyFile::read(path).map_err(failure)?;
    KeyFile::change(path, removed).map_err(failure)?;
    tell!("{}: the key {name} was removed", shown(path));
    Ok(Status::Done)
}

fn failure(error: KeyError) -> Failure {
    Failure::of(error.is_usage(), error)
}
