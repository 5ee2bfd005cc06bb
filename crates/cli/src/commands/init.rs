//! `pericope init`

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pericope_encode::registry::{RegistryError, embedder};

use crate::project::{FOLDER, SETTINGS, Settings, check_segmenter, checked_url_prefix, find_here, inside_of};
use crate::resources::{of_tests, shown};
use crate::status::{Failure, Outcome, Status};

pub const INIT_EXAMPLES: &str = "Examples:
  pericope init
  pericope init docs README.md --url-prefix https://docs.example.org/
  pericope init docs --segmenter window --embedder none

Writes .pericope/pericope.toml, which may be edited. From then on `pericope index` needs no --into in this folder and those
below it, and `pericope search 'x'`, `pericope serve` and `pericope mcp` need no --in. Documents are called by their paths from
this folder on. The index lies in .pericope/index, which git ignores.";

/// `pericope init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Files or folders to index [default: the whole folder]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Segmenter and its settings: name or name:key=value,key=value
    #[arg(long, short, value_name = "SPEC", default_value = "structure")]
    pub segmenter: String,
    /// Embedding model: minilm, static, a name that `models list` shows, a folder with a model, openai:MODEL,
    /// fastembed:MODEL or none [default: minilm where it is installed, else none]
    #[arg(long, value_name = "SPEC")]
    pub embedder: Option<String>,
    /// What stands before a document's path in its address
    #[arg(long, value_name = "URL", value_parser = checked_url_prefix)]
    pub url_prefix: Option<String>,
}

/// Everything but the settings is made again by `pericope index`.
const IGNORED: &str =
    "# Made by `pericope init`: the index is no part of the repository.\n*\n!.gitignore\n!pericope.toml\n";

/// Runs the command.
pub fn run(args: InitArgs, quiet: bool) -> Outcome {
    let here = std::env::current_dir().map_err(Failure::usage)?;
    let file = Path::new(FOLDER).join(SETTINGS);
    check_segmenter(&args.segmenter).map_err(|why| Failure::usage(format!("--segmenter: {why}")))?;
    args.embedder.as_deref().map_or(Ok(()), check_embedder)?;
    for path in &args.paths {
        if path.symlink_metadata().is_err() {
            return Err(Failure::usage(format!("{}: no such file or folder", shown(path))));
        }
    }
    let inside = |path: &PathBuf| inside_of(&here, path, "make the project in a folder that holds it");
    let paths: Vec<PathBuf> = args.paths.iter().map(inside).collect::<Result<_, _>>()?;
    let above = find_here().filter(|project| here.canonicalize().is_ok_and(|here| here != project.root()));
    let (chosen, without_model) = match args.embedder {
        Some(embedder) => (embedder, false),
        None if pericope_encode::models::locate("minilm").is_ok() => ("minilm".to_owned(), false),
        None => ("none".to_owned(), true),
    };
    let settings = Settings {
        paths: Some(paths),
        segmenter: Some(args.segmenter),
        embedder: Some(chosen),
        prefix_headings: None,
        late_chunking: None,
        context_llm: None,
        url_prefix: args.url_prefix,
    };
    make(&file, &settings)?;
    if quiet {
        return Ok(Status::Done);
    }
    if let Some(above) = above {
        tell!("the project {} is not used from here on", shown(above.root()));
    }
    if without_model {
        tell!(
            "the model minilm is not installed: the index will hold words alone; for search by meaning run `pericope \
             models pull minilm` and set embedder = \"minilm\" in {}",
            shown(&file)
        );
    }
    say!("{}: written; now run `pericope index`, then `pericope search 'words'`", shown(&file));
    Ok(Status::Done)
}

/// Refuses a name that no embedder has. A model that is not installed may be by the time of `pericope index`.
fn check_embedder(spec: &str) -> Result<(), Failure> {
    if spec.starts_with("openai:") || of_tests(spec).is_some() {
        return Ok(());
    }
    match embedder(spec) {
        Err(error @ (RegistryError::Unknown { .. } | RegistryError::Options { .. })) => {
            Err(Failure::usage(format!("--embedder: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes the settings, where there are none.
fn make(file: &Path, settings: &Settings) -> Result<(), Failure> {
    let folder = Path::new(FOLDER);
    fs::create_dir_all(folder).map_err(|e| Failure::runtime(format!("{}: {e}", shown(folder))))?;
    let mut written = match fs::File::create_new(file) {
        Ok(written) => written,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Failure::usage(format!("{} is there already: edit it, or delete it first", shown(file))));
        }
        Err(error) => return Err(Failure::runtime(format!("{}: {error}", shown(file)))),
    };
    let write = |file: &Path, e: std::io::Error| Failure::runtime(format!("{}: {e}", shown(file)));
    let ignore = folder.join(".gitignore");
    fs::write(&ignore, IGNORED).map_err(|e| write(&ignore, e))?;
    written.write_all(settings.to_file().as_bytes()).and_then(|()| written.sync_all()).map_err(|e| write(file, e))
}
