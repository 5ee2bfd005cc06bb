//! Several named indexes behind one type. Methods block; answers are plain structs.

mod addresses;
mod answers;
mod chunkers;
mod compare;
mod docsearch;
mod documents;
mod options;
mod problem;
mod requests;
mod search;
mod segment;
mod slot;
mod state;
mod vectors;

pub use addresses::AddressRules;
pub use answers::{
    ChunkAnswer, ChunkPart, CompareAnswer, ComparedHit, ContextPart, DocumentAnswer, DocumentEntry, DocumentsAnswer,
    HitAnswer, HitGroup, IndexEntry, IndexesAnswer, RefreshAnswer, SearchAnswer, SegmentAnswer, SegmentedChunk,
    SegmenterEntry, SegmenterResult, SegmentersAnswer,
};
pub use docsearch::{DocsearchAnswer, DocsearchQuery, DocsearchRequest, DocsearchResults};
pub use options::{MakeEncoder, NamedPlace, ServiceOptions, is_name};
pub use problem::Problem;
pub use requests::{
    ChunkRequest, CompareRequest, DocumentRequest, ListRequest, Mode, Offsets, SearchRequest, SegmentRequest,
};
pub use segment::LONGEST_TEXT;
pub use state::Service;
