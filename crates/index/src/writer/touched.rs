//! What a commit has to settle.

use std::collections::HashSet;

use uuid::Uuid;

/// A document that was written or removed since the last commit.
#[derive(Default)]
pub(super) struct Touched {
    /// Points of the document at the last commit.
    pub committed: HashSet<Uuid>,
    /// Points that were put among the vectors, or into their queue, since.
    pub written: HashSet<Uuid>,
    /// Points of the document as it is now.
    pub live: HashSet<Uuid>,
}
