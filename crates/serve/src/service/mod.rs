//! Several named indexes behind one type. Methods block; answers are plain structs.

mod answers;
mod problem;
mod requests;

pub use answers::{
    ChunkAnswer, ChunkPart, CompareAnswer, ComparedHit, ContextPart, DocumentAnswer, DocumentEntry, DocumentsAnswer,
    HitAnswer, HitGroup, IndexEntry, IndexesAnswer, RefreshAnswer, SearchAnswer, SegmentAnswer, SegmentedChunk,
    SegmenterEntry, SegmenterResult, SegmentersAnswer,
};
pub use problem::Problem;
pub use requests::{
    ChunkRequest, CompareRequest, DocumentRequest, ListRequest, Mode, Offsets, SearchRequest, SegmentRequest,
};
