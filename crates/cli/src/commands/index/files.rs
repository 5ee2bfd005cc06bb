//! Files as the source of a pipeline.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use pericope_api::Document;
use pericope_index::pipeline::{Failure, Metadata, Source, hash_file};
use pericope_read::document_id;
use pericope_store::FileStamp;

use crate::input::Input;

/// The files of an input, by their paths.
pub struct Files<'a> {
    pub input: &'a Input,
}

impl Source for Files<'_> {
    type Item = PathBuf;

    fn about(&self, path: &PathBuf) -> Metadata {
        let about = fs::metadata(path).ok();
        Metadata {
            name: Some(document_id(path)),
            bytes: about.as_ref().map_or(0, fs::Metadata::len),
            stamp: about.as_ref().map(FileStamp::of),
        }
    }

    fn hash(&self, path: &PathBuf) -> Option<u128> {
        let (about, limit) = (fs::metadata(path).ok()?, self.input.max_bytes());
        // What is refused for its size is not read for its hash.
        let worth_it = about.is_file() && (limit == 0 || about.len() <= limit);
        worth_it.then(|| hash_file(path).ok()).flatten()
    }

    fn read(&self, path: &mut PathBuf, each: &mut dyn FnMut(Result<Document, Failure>)) {
        // Both of the reader's callbacks lead here; only one of them is called at a time.
        let each = RefCell::new(each);
        self.input.read(path, &mut |document| (each.borrow_mut())(Ok(document)), &mut |reason| {
            (each.borrow_mut())(Err(Failure { document: String::new(), reason }));
        });
    }
}
