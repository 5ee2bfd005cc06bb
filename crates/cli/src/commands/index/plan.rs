//! What is indexed, into what: as the flags say, and where they name no index as the project's settings do.

use std::env;
use std::path::PathBuf;

use pericope_store::{CONTEXT_TOKENS, HEADING_TOKENS, StoreError};

use super::args::IndexArgs;
use crate::project::{self, FOLDER, Project, SETTINGS};
use crate::resources::{EMBEDDER, shown};
use crate::status::Failure;

/// Files and folders, an index, and what embeds.
pub(super) struct Plan {
    pub into: String,
    pub paths: Vec<PathBuf>,
    pub embedder: String,
    /// Which flag or key named the embedder.
    pub embedder_from: String,
    /// Whether it reads the headings above a chunk, too.
    pub prefix_headings: bool,
    /// Whether it reads chunks within their document.
    pub late_chunking: bool,
    /// The file that names the model which writes contexts.
    pub context_llm: Option<PathBuf>,
}

impl Plan {
    /// Makes a plan. For a project, the working directory is its folder afterwards, and flags that name files are as seen
    /// from there.
    ///
    /// # Errors
    /// A usage failure where there is no index, and for settings that cannot be used.
    pub fn of(args: &mut IndexArgs) -> Result<Self, Failure> {
        let into = args.into.take();
        let mut embedder_from = "--embedder".to_owned();
        let (into, paths) = match into {
            Some(into) => (into, std::mem::take(&mut args.paths)),
            None => {
                let project = project::required("--into")?;
                let file = project.root().join(FOLDER).join(SETTINGS);
                let settings = project.settings()?;
                let paths = match args.paths.is_empty() {
                    true => there(&project, settings.paths.unwrap_or_else(|| vec![".".into()]))?,
                    false => project.inside(&args.paths, "name another index with --into")?,
                };
                args.policy.segmenter = args.policy.segmenter.take().or(settings.segmenter);
                args.prefix_headings |= settings.prefix_headings.unwrap_or(false);
                args.late_chunking |= settings.late_chunking.unwrap_or(false);
                if let (None, Some(embedder)) = (&args.embedder, settings.embedder) {
                    args.embedder = Some(embedder);
                    embedder_from = format!("{}, key embedder", shown(&file));
                }
                for file in [&mut args.embedding_cache, &mut args.context_llm].into_iter().flatten() {
                    *file = env::current_dir().map_err(Failure::usage)?.join(&*file);
                }
                args.context_llm = args.context_llm.take().or(settings.context_llm.map(PathBuf::from));
                project.enter()?;
                (Project::index_from_root(), paths)
            }
        };
        let embedder = args.embedder.take().unwrap_or_else(|| EMBEDDER.to_owned());
        // Without an embedder nobody reads them.
        let prefix_headings = args.prefix_headings && embedder != "none";
        let late_chunking = args.late_chunking && embedder != "none";
        let context_llm = args.context_llm.take();
        // A flag may meet a key of the settings.
        if late_chunking && (prefix_headings || context_llm.is_some()) {
            return Err(Failure::usage(StoreError::LateChunking));
        }
        Ok(Self { into, paths, embedder, embedder_from, prefix_headings, late_chunking, context_llm })
    }

    /// Tokens that the embedder reads before a chunk.
    pub fn room(&self) -> usize {
        let headings = if self.prefix_headings { HEADING_TOKENS } else { 0 };
        let context = if self.context_llm.is_some() && self.embedder != "none" { CONTEXT_TOKENS } else { 0 };
        headings + context
    }
}

/// The paths of the settings, where all of them are there.
fn there(project: &Project, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    match paths.iter().find(|path| project.root().join(path).symlink_metadata().is_err()) {
        None => Ok(paths),
        Some(path) => {
            let file = project.root().join(FOLDER).join(SETTINGS);
            Err(Failure::usage(format!("{}, key paths: {}: no such file or folder", shown(&file), shown(path))))
        }
    }
}
