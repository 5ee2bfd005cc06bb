//! Several named indexes behind one type. Methods block; answers are plain structs.

mod addresses;
mod answers;
mod chunkers;
mod compare;
mod cut_answers;
mod docsearch;
mod documents;
mod encoders;
mod options;
mod problem;
mod requests;
mod rerankers;
mod search;
mod segment;
mod slot;
mod stale;
mod state;
mod vectors;

pub use pericope::store::Mode;

pub use addresses::AddressRules;
pub use answers::{
    ChunkAnswer, ChunkPart, ContextPart, DocumentAnswer, DocumentEntry, DocumentsAnswer, HitAnswer, HitGroup,
    IndexEntry, IndexesAnswer, LeftOut, RefreshAnswer, SearchAnswer,
};
pub use cut_answers::{
    CompareAnswer, ComparedHit, SegmentAnswer, SegmentedChunk, SegmenterEntry, SegmenterResult, SegmentersAnswer,
};
pub use docsearch::{
    DocsearchAnswer, DocsearchHit, DocsearchQuery, DocsearchRequest, DocsearchResults, Marked, MarkedHit,
};
pub(crate) use documents::{NO_CHUNK, NO_DOCUMENT};
pub use options::{MakeEncoder, NamedPlace, NamedReranker, ServiceOptions, is_name};
pub use problem::Problem;
pub use requests::{
    ChunkRequest, CompareRequest, DocumentRequest, ListRequest, Offsets, SearchRequest, SegmentRequest,
};
pub use segment::LONGEST_TEXT;
pub use state::Service;
