use pericope_api::Document;

use super::Failure;
use crate::Stamp;

/// What is known of an item before it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its name, by which the destination recognises it; nothing for what is written anew in every run.
    pub name: Option<String>,
    /// Bytes, as far as they are known: what its share of memory is reckoned from.
    pub bytes: u64,
    /// What it looks like from outside, where that can be told.
    pub stamp: Option<Stamp>,
}

/// Something that documents come from: files in a tree, rows of a table, pages behind addresses.
pub trait Source: Sync {
    /// One of them: a path, a key, an address.
    type Item: Send;

    /// Looks at an item from outside. Called on one thread, in order, and again after the item was read: where the stamp
    /// is another one by then, it counts as changed under the reader's hands.
    fn about(&self, item: &Self::Item) -> About;

    /// The hash of its bytes (XXH3, 128 bits); nothing where it cannot be read or is not worth it, which
    /// [`read`](Self::read) then says or finds.
    fn hash(&self, item: &Self::Item) -> Option<u128>;

    /// Reads it: its documents, in order, and a failure for each part of it that cannot be read.
    fn read(&self, item: &mut Self::Item, each: &mut dyn FnMut(Result<Document, Failure>));
}
