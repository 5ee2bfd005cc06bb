//! `chunks:FILE.jsonl`: chunks that somebody made and wrote down.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use pericope_api::{Document, SegmentError, Segmentation, Segmenter, Span};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::given::{Given, Offsets};
use super::original::{Original, Originals};
use super::placer::Placer;
use crate::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};

/// Bytes of a line, at most.
const LONGEST_LINE: u64 = 64 << 20;
/// Bytes of a file, at most.
const LONGEST_FILE: u64 = 4 << 30;
/// Documents that are named where some are missing.
const NAMED: usize = 3;

/// The registry's entry.
pub const CHUNKS: SegmenterEntry = SegmenterEntry {
    name: "chunks",
    summary: "chunks that you made: JSON lines of document with start and end, or with text, which is looked for and checked",
    keys: &[
        SettingKey { name: "file", default: "", doc: "the file; may stand first without its key: chunks:FILE.jsonl" },
        SettingKey { name: "offsets", default: "bytes", doc: "what start and end count: bytes, chars" },
        SettingKey {
            name: "missing",
            default: "error",
            doc: "documents that the file does not name: error, one (one chunk each), skip (no chunk)",
        },
    ],
    example: "chunks:my-chunks.jsonl,offsets=chars",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build: |args, resources| {
        let Some(file) = args.get("file") else {
            return Err(args.unavailable("it needs a file of chunks: chunks:FILE.jsonl".into()));
        };
        let offsets = Offsets::at(args.choice("offsets", &Offsets::WORDS)?);
        let missing = match args.choice("missing", &["error", "one", "skip"])? {
            1 => Missing::One,
            2 => Missing::Skip,
            _ => Missing::Error,
        };
        args.before_files()?;
        let chunks = ChunksFile::read(Path::new(file), offsets).map_err(|problem| args.unavailable(problem))?;
        let originals = resources.originals();
        Ok(BuiltSegmenter::new(FromFile { chunks, missing, originals }).finished())
    },
};

/// What becomes of a document that the file does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Error,
    One,
    Skip,
}

/// A line of the file. Fields beside these say nothing to us: what `pericope segment --format json` prints can be read back.
#[derive(Deserialize)]
struct Line {
    document: String,
    #[serde(flatten)]
    given: Given,
    offsets: Option<Offsets>,
}

/// The chunks of a file by document.
struct ChunksFile {
    /// The file as messages name it.
    name: String,
    sha256: String,
    /// By document its chunks, each with its line from 1.
    documents: HashMap<String, Vec<(usize, Given, Offsets)>>,
    /// The first documents of the file.
    first: Vec<String>,
}

impl ChunksFile {
    fn read(path: &Path, offsets: Offsets) -> Result<Self, String> {
        let name = pericope_util::shown_path(path);
        let failed = |error: std::io::Error| format!("{name}: {error}");
        let file = pericope_util::open_file(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > LONGEST_FILE {
            return Err(format!("{name}: the file is larger than {} GiB", LONGEST_FILE >> 30));
        }
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut digest = Sha256::new();
        let (mut documents, mut first) = (HashMap::<String, Vec<_>>::new(), Vec::new());
        let mut bytes = Vec::new();
        for number in 1usize.. {
            bytes.clear();
            let read = reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes).map_err(failed)?;
            if read == 0 {
                break;
            }
            if bytes.len() as u64 > LONGEST_LINE {
                return Err(format!("{name}, line {number}: the line is longer than {} MiB", LONGEST_LINE >> 20));
            }
            digest.update(&bytes);
            let line = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1).unwrap_or(&bytes).trim_ascii();
            if line.is_empty() {
                continue;
            }
            let line: Line = serde_json::from_slice(line).map_err(|error| {
                format!(
                    "{name}, line {number}: {error}; a line is {{\"document\": \"...\", \"start\": 0, \"end\": 9}}, or with \
                     \"text\" instead of start and end"
                )
            })?;
            let chunk = (number, line.given, line.offsets.unwrap_or(offsets));
            match documents.get_mut(&line.document) {
                Some(chunks) => chunks.push(chunk),
                None => {
                    if first.len() < NAMED {
                        first.push(line.document.clone());
                    }
                    documents.insert(line.document, vec![chunk]);
                }
            }
        }
        if documents.is_empty() {
            return Err(format!("{name}: there is no chunk in it"));
        }
        Ok(Self { name, sha256: pericope_util::hex(&digest.finalize()), documents, first })
    }

    /// The chunks of a document, under its id or its other name.
    fn of(&self, document: &Document, original: Option<&Original>) -> Option<&[(usize, Given, Offsets)]> {
        let other = || self.documents.get(original?.path.as_ref()?);
        self.documents.get(&document.id).or_else(other).map(Vec::as_slice)
    }

    /// The chunks of a document as byte ranges, ordered by their starts.
    fn spans(&self, document: &Document, original: Option<&Original>) -> Option<Result<Vec<Span>, SegmentError>> {
        let chunks = self.of(document, original)?;
        let text = original.and_then(|original| original.text.as_deref());
        let mut placer = Placer::new(&document.source).with_original(text);
        let place = |(line, given, offsets): &(usize, Given, Offsets)| {
            placer.place(given, *offsets).map_err(|problem| {
                SegmentError::Unsupported(format!(
                    "{}, line {line}, document {}: {problem}",
                    self.name,
                    named(&document.id)
                ))
            })
        };
        let spans: Result<Vec<Option<Span>>, SegmentError> = chunks.iter().map(place).collect();
        Some(spans.map(|spans| {
            let mut spans: Vec<Span> = spans.into_iter().flatten().collect();
            spans.sort_by_key(|span| (span.start, span.end));
            spans
        }))
    }

    /// What is wrong where these documents have no chunks, of so many that were looked for.
    fn missing(&self, missing: &[&str], of: usize) -> String {
        let few = |names: &mut dyn Iterator<Item = &str>| names.take(NAMED).map(named).collect::<Vec<_>>().join(", ");
        let more = |shown: usize, all: usize| if all > shown { ", ..." } else { "" };
        let (held, known) = (self.documents.len(), self.first.len());
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        format!(
            "{} has no chunk of {} of {of} document{}: {}{}; it names {held} document{}: {}{}; missing=one makes one chunk of each, \
             missing=skip none",
            self.name,
            missing.len(),
            plural(of),
            few(&mut missing.iter().copied()),
            more(NAMED, missing.len()),
            plural(held),
            few(&mut self.first.iter().map(String::as_str)),
            more(known, held),
        )
    }
}

/// A document's id in a message.
fn named(id: &str) -> String {
    format!("`{}`", pericope_util::visible_line(id))
}

struct FromFile {
    chunks: ChunksFile,
    missing: Missing,
    originals: Arc<Originals>,
}

impl Segmenter for FromFile {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let spans = match (self.chunks.spans(document, self.originals.get(&document.id)), self.missing) {
            (Some(spans), _) => spans?,
            (None, Missing::One) => vec![Span::new(0, document.source.len()).trimmed(&document.source)],
            (None, Missing::Skip) => Vec::new(),
            (None, Missing::Error) => {
                return Err(SegmentError::Unsupported(self.chunks.missing(&[document.id.as_str()], 1)));
            }
        };
        Ok(Segmentation::Chunks(spans))
    }

    fn check_documents(&self, documents: &[&Document]) -> Result<(), SegmentError> {
        let full = || documents.iter().filter(|document| !document.is_empty());
        let is_missing = |document: &&&Document| self.chunks.of(document, self.originals.get(&document.id)).is_none();
        let missing: Vec<&str> = full().filter(is_missing).map(|document| document.id.as_str()).collect();
        match self.missing {
            Missing::Error if !missing.is_empty() => {
                Err(SegmentError::Unsupported(self.chunks.missing(&missing, full().count())))
            }
            _ => Ok(()),
        }
    }

    /// The chunks are those of the file, whatever its name.
    fn fingerprint(&self) -> String {
        format!("sha256={}", self.chunks.sha256)
    }
}

#[cfg(test)]
mod tests;
