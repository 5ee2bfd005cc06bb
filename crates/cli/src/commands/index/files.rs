//! Files as the source of a pipeline.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use pericope_api::Document;
use pericope_index::pipeline::{Failure, Metadata, Source, hash_file};
use pericope_read::document_id;
use pericope_store::FileStamp;

use crate::input::{Input, LeftOut, is_guarded};

/// The files of an input, by their paths.
pub struct Files {
    pub input: Arc<Input>,
}

impl Source for Files {
    type Item = PathBuf;

    fn about(&self, path: &PathBuf) -> Metadata {
        let about = fs::metadata(path).ok();
        Metadata {
            name: Some(document_id(path)),
            bytes: about.as_ref().map_or(0, fs::Metadata::len),
            stamp: about.as_ref().map(FileStamp::of),
            guarded: is_guarded(path),
        }
    }

    fn hash(&self, path: &PathBuf) -> Option<u128> {
        let (about, limit) = (fs::metadata(path).ok()?, self.input.max_bytes());
        // What is refused for its size is not read for its hash.
        let worth_it = about.is_file() && (limit == 0 || about.len() <= limit);
        worth_it.then(|| hash_file(path).ok()).flatten()
    }

    fn read(&self, path: &mut PathBuf, each: &mut dyn FnMut(Result<Document, Failure>)) {
        self.input.read(path, &mut |read| {
            each(match read {
                Ok(document) => Ok(document),
                // The pipeline removes what it held before.
                Err(LeftOut::Empty(id)) => Ok(Document::from_sentences::<&str>(&id, &[])),
                Err(LeftOut::Bad(reason)) => Err(Failure::new("", reason)),
                Err(LeftOut::InPart(reason)) => Err(Failure { in_part: true, ..Failure::new("", reason) }),
            });
        });
    }
}
