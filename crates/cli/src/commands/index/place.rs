//! Where an index is: a folder, or a collection on a server.

use std::path::{Path, PathBuf};

use pericope_index::pipeline::Report;
use pericope_index::{Destination, IndexError, IndexMeta, IndexSpec, IndexStats, IndexWriter, ReferenceMeta};
use pericope_qdrant::Target;

use crate::input::Input;
use crate::qdrant::{self, ServerIndex};
use crate::status::Failure;

/// What `--into` names.
#[allow(clippy::large_enum_variant)] // there is one of it
pub enum Place {
    /// An embedded index.
    Folder(PathBuf),
    /// A collection on a Qdrant server.
    Server(Target),
}

impl Place {
    /// Reads `--into`.
    ///
    /// # Errors
    /// A usage failure for an address that is wrong, and for a file.
    pub fn parse(into: &str) -> Result<Self, Failure> {
        if let Some(target) = qdrant::target(into)? {
            return Ok(Self::Server(target));
        }
        match Path::new(into).is_file() {
            true => Err(Failure::usage(format!("--into {into} is a file: name a folder"))),
            false => Ok(Self::Folder(PathBuf::from(into))),
        }
    }

    /// What `same-size` was sized by when the index was made, where there is one.
    ///
    /// # Errors
    /// Where a server cannot be asked, or has another kind of collection there.
    pub fn reference(&self) -> Result<Option<ReferenceMeta>, Failure> {
        match self {
            Self::Folder(dir) => Ok(IndexMeta::read(dir).ok().and_then(|meta| meta.reference)),
            Self::Server(target) => qdrant::reference(target),
        }
    }

    /// Opens or makes the index; with `rebuild` another one takes its place. Commits every so many bytes of text.
    ///
    /// # Errors
    /// As [`IndexWriter::create_or_open`] and [`ServerIndex::open`].
    pub fn open(&self, spec: &IndexSpec, rebuild: bool, commit_bytes: u64) -> Result<Writer, IndexError> {
        Ok(match self {
            Self::Folder(dir) => {
                let mut writer = match rebuild {
                    true => IndexWriter::rebuild(dir, spec),
                    false => IndexWriter::create_or_open(dir, spec),
                }?;
                writer.commit_every(commit_bytes);
                Writer::Folder(Box::new(writer))
            }
            Self::Server(target) => Writer::Server(Box::new(ServerIndex::open(target, spec, rebuild, commit_bytes)?)),
        })
    }
}

/// As messages name it: never with a key.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(dir) => dir.display().fmt(f),
            Self::Server(target) => target.fmt(f),
        }
    }
}

/// An index that is being written.
pub enum Writer {
    /// In a folder.
    Folder(Box<IndexWriter>),
    /// On a server.
    Server(Box<ServerIndex>),
}

impl Writer {
    /// As what a pipeline writes into.
    pub fn destination(&mut self) -> &mut dyn Destination {
        match self {
            Self::Folder(writer) => writer.as_mut(),
            Self::Server(writer) => writer.as_mut(),
        }
    }

    /// Commits, and says what was done by a run over the files that were found.
    ///
    /// # Errors
    /// As [`IndexWriter::finish`] and [`ServerIndex::finish`].
    pub fn finish(self, report: &Report, found: &Input) -> Result<IndexStats, IndexError> {
        match self {
            Self::Folder(writer) => writer.finish(),
            Self::Server(writer) => writer.finish(report, found),
        }
    }
}
