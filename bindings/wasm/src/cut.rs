use pericope_api::{Chunk, Joint, joints};
use pericope_read::{ReadOptions, read_text, text_reader};
use pericope_segment::spec::Spec;
use pericope_segment::{Limits, Standalone, registry};
use serde::{Deserialize, Serialize};

/// Bytes of a text at most, as of the service.
const LONGEST_TEXT: usize = 1 << 20;

/// A text, and how it is to be cut.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub text: String,
    /// The name of a reader: `markdown`.
    pub format: String,
    /// The spec of a segmenter.
    pub segmenter: String,
    /// The most tokens of a chunk, where the spec says nothing of it; 0: no limit.
    pub max_tokens: usize,
}

/// A text that was cut. The text is, over all chunks, `before`, `own` and `after`.
#[derive(Debug, Serialize)]
pub struct Cut {
    /// The canonical spec of the segmenter, with the limits in force.
    pub segmenter: String,
    pub sentences: usize,
    pub chunks: Vec<Piece>,
}

/// A chunk with what stands around it. Its text is `repeated` and `own`.
#[derive(Debug, Serialize)]
pub struct Piece {
    /// The first byte in the text.
    pub start: usize,
    /// One past the last byte in the text.
    pub end: usize,
    /// The Unicode characters of its text.
    pub characters: usize,
    /// The words, marks and symbols of its text.
    pub tokens: usize,
    pub heading_path: Vec<String>,
    /// The text before the first chunk; empty at every other chunk.
    pub before: String,
    /// What chunks before it have too.
    pub repeated: String,
    pub own: String,
    /// The text up to the next chunk, or to the end.
    pub after: String,
}

/// Reads a text and cuts it.
///
/// # Errors
/// With what is wrong: the format, the spec, or a text that cannot be cut so.
pub fn cut(request: &Request) -> Result<Cut, String> {
    let length = request.text.len();
    if length > LONGEST_TEXT {
        return Err(format!("the text has {length} bytes, and may have {LONGEST_TEXT}"));
    }
    if text_reader(&request.format).is_none() {
        return Err(format!("there is no format `{}` for text", request.format));
    }
    let spec = Spec::parse(&request.segmenter).map_err(text_of)?;
    let defaults = Limits { max_tokens: Some(request.max_tokens), ..Limits::default() };
    let chunker = registry::build(&spec, &Standalone { defaults }).map_err(text_of)?;
    let source = request.text.as_str();
    let document = read_text("text", &request.format, source, &ReadOptions::default()).map_err(text_of)?;
    let chunks = chunker.chunks(&document).map_err(text_of)?;
    let joints = joints(source, &chunks);
    Ok(Cut {
        segmenter: chunker.spec().to_string(),
        sentences: document.len(),
        chunks: chunks.iter().zip(joints).map(|(chunk, joint)| piece(source, chunk, &joint)).collect(),
    })
}

fn piece(source: &str, chunk: &Chunk, joint: &Joint<'_>) -> Piece {
    let text = chunk.span.of(source);
    let (repeated, own) = text.split_at_checked(joint.overlap).unwrap_or(("", text));
    Piece {
        start: chunk.span.start,
        end: chunk.span.end,
        characters: text.chars().count(),
        tokens: chunk.tokens,
        heading_path: chunk.heading_path.iter().map(|heading| heading.as_str().to_owned()).collect(),
        before: joint.before.to_owned(),
        repeated: repeated.to_owned(),
        own: own.to_owned(),
        after: joint.after.to_owned(),
    }
}

fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}
