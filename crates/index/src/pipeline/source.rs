use pericope_api::Document;
use pericope_store::FileStamp;

use super::report::Failure;

/// The facts about an item that are known before it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The name by which the destination recognises it; `None` for an item that is written anew in every run.
    pub name: Option<String>,
    /// The size in bytes, as far as it is known: the share of memory is reckoned from it.
    pub bytes: u64,
    /// The outside of a file; `None` for an item without one.
    pub stamp: Option<FileStamp>,
    /// Whether reading it has limits of its own, and may wait for its turn there. The time that it may take here is ten
    /// times as long then.
    pub guarded: bool,
}

/// Something that documents come from: files in a tree, rows of a table, pages behind addresses.
///
/// A source is shared with the threads that read; one of them may be left behind with it ([`Options::time`]).
///
/// [`Options::time`]: super::Options::time
pub trait Source: Send + Sync + 'static {
    /// One of them: a path, a key, an address.
    type Item: Send + 'static;

    /// Looks at an item from outside. Called on one thread, in order, and again after the item was read: where the stamp
    /// is another one by then, it counts as changed under the reader's hands.
    fn about(&self, item: &Self::Item) -> Metadata;

    /// The hash of its bytes (XXH3, 128 bits); nothing where it cannot be read or is not worth it, which
    /// [`read`](Self::read) then says or finds.
    fn hash(&self, item: &Self::Item) -> Option<u128>;

    /// Reads it: its documents, in order, and a failure for each part of it that cannot be read.
    fn read(&self, item: &mut Self::Item, each: &mut dyn FnMut(Result<Document, Failure>));
}
