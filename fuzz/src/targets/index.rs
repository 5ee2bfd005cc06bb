//! Indexes: their metadata, damage to their files, queries.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pericope_api::{Chunk, Document};
use pericope_index::{Filter, IndexMeta, IndexReader, IndexSpec, IndexWriter, META_FILE, Mode, Query, Retriever};
use tempfile::TempDir;

use super::folder;
use super::parts::{damaged, damages, parts, text};

pub(super) const WORDS: &[&str] = &[
    "\"format\":",
    "\"segmenter\":",
    "\"tokenizer\":",
    "\"embedder\":",
    "\"dimension\":",
    "\"fingerprint\":",
    "\"text_analyzer\":",
    "\"reference\":",
    "\"program\":",
    "\"documents\":",
    "\"chunks\":",
    "18446744073709551615",
    "-1",
    "null",
    "{",
    "}",
    "[",
];
pub(super) const QUERY_WORDS: &[&str] = &[
    "\"", "fox", "badger", "\u{1e}", "*", "AND", "OR", ":", "(", ")", "-", "+", "~2", "^9", "é", "foxes", "part", "md",
];

/// An index of a few documents, without vectors, and its files.
struct Built {
    folder: TempDir,
    files: Vec<PathBuf>,
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut writer =
            IndexWriter::create_or_open(folder.path(), &IndexSpec::new("paragraph", "words")).expect("a new index");
        for i in 0..6 {
            let texts = [format!("Part {i}"), format!("The fox {i} ran."), "A badger slept in the garden.".to_owned()];
            let document = Document::from_sentences(&format!("guide/{i}.md"), &texts);
            writer.add(&document, &chunks(&document)).expect("a document can be added");
        }
        writer.finish().expect("an index can be finished");
        let mut files = Vec::new();
        list(folder.path(), Path::new(""), &mut files);
        files.sort();
        Built { folder, files }
    })
}

/// One chunk a sentence.
fn chunks(document: &Document) -> Vec<Chunk> {
    let sentences = document.sentences.iter().enumerate();
    sentences
        .map(|(ordinal, sentence)| Chunk {
            document: document.id.clone(),
            ordinal,
            span: sentence.span,
            heading_path: document.heading_path(ordinal).to_vec(),
            tokens: document.text(sentence.span).split_whitespace().count(),
            hash: Chunk::content_hash(document.text(sentence.span)),
            context: None,
        })
        .collect()
}

fn list(root: &Path, below: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(below)).expect("it is ours").flatten() {
        let path = below.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) { list(root, &path, into) } else { into.push(path) }
    }
}

/// Reads bytes as `pericope.json`.
pub(super) fn meta(data: &[u8]) {
    folder::with_empty(|folder| {
        fs::write(folder.join(META_FILE), data).expect("a temporary file");
        if let Ok(meta) = IndexMeta::read(folder) {
            let _ = meta.built_with().fingerprint();
            let _ = meta.expect(folder, &IndexSpec::new("paragraph", "words"));
        }
        assert!(IndexReader::open(folder).is_err(), "there is no full-text index");
        assert_eq!(fs::read(folder.join(META_FILE)).expect("it is there"), data, "reading changes nothing");
    });
}

/// Opens a copy of an index with damaged files; what is found still has scores that are numbers and texts that are whole.
pub(super) fn open(data: &[u8]) {
    let built = built();
    folder::with_empty(|folder| {
        for file in &built.files {
            let to = folder.join(file);
            fs::create_dir_all(to.parent().expect("it is below the folder")).expect("a temporary folder");
            fs::copy(built.folder.path().join(file), to).expect("a temporary file");
        }
        for damage in damages(data) {
            let path = folder.join(&built.files[damage.file % built.files.len()]);
            let Ok(bytes) = fs::read(&path) else { continue };
            match damaged(bytes, &damage) {
                Some(bytes) => fs::write(path, bytes).expect("a temporary file"),
                None => fs::remove_file(path).expect("a temporary file"),
            }
        }
        let Ok(reader) = IndexReader::open(folder) else { return };
        search(&reader, "badger garden", Filter::default());
        let _ = reader.chunks();
        let _ = reader.contents().map(|contents| contents.agree());
    });
}

/// Asks any question: the first part is the query, the others are the filter's path, heading and type of file.
pub(super) fn query(data: &[u8]) {
    static READER: OnceLock<IndexReader> = OnceLock::new();
    let reader = READER.get_or_init(|| IndexReader::open(built().folder.path()).expect("a whole index"));
    let mut parts = parts(data).map(text);
    let words = parts.next().unwrap_or_default();
    let filter = Filter {
        paths: parts.next().into_iter().collect(),
        headings: parts.next().into_iter().collect(),
        file_types: parts.next().into_iter().collect(),
    };
    search(reader, &words, Filter::default());
    search(reader, &words, filter);
    let _ = reader.highlighter(&words);
}

fn search(reader: &IndexReader, words: &str, filter: Filter) {
    let Ok(found) = reader.find(&Query::new(words, Mode::Bm25, 5).with_filter(filter)) else { return };
    assert!(found.len() <= 5);
    for (ranked, chunk) in &found {
        assert!(ranked.score.is_finite(), "a score of {}", ranked.score);
        assert!(chunk.start <= chunk.end, "{}..{}", chunk.start, chunk.end);
    }
}
