//! Made-up documents, their chunks, folders.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pericope_api::{Chunk, Document, Heading, Kind};

/// Cuts a document into one chunk a sentence.
#[must_use]
pub fn sentence_chunks(document: &Document) -> Vec<Chunk> {
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

/// Returns a document whose heading `Loans` stands right above `How long?`, with `Fines` further on, and one chunk of all of
/// it, which has the path of its first heading.
#[must_use]
pub fn headed(id: &str) -> (Document, Chunk) {
    let texts = ["Loans", "How long?", "Kestrels keep things four weeks.", "Fines", "None at all."];
    let mut document = Document::from_sentences(id, &texts);
    let paths: [&[&str]; 4] = [&[], &["Loans"], &["Loans", "How long?"], &["Fines"]];
    document.sections = paths.map(|path| path.iter().map(|&heading| heading.into()).collect::<Vec<Heading>>()).to_vec();
    let kinds = [Kind::Heading(2), Kind::Heading(3), Kind::Prose, Kind::Heading(2), Kind::Prose];
    for (sentence, (kind, section)) in document.sentences.iter_mut().zip(kinds.into_iter().zip([1, 2, 2, 3, 3])) {
        (sentence.kind, sentence.section) = (kind, section);
    }
    let chunk = Chunk {
        document: id.to_owned(),
        ordinal: 0,
        span: document.span_of(0..texts.len()),
        heading_path: document.heading_path(0).to_vec(),
        tokens: document.source.split_whitespace().count(),
        hash: Chunk::content_hash(&document.source),
        context: None,
    };
    (document, chunk)
}

/// Returns a document of sentences made of the words `w0`..`w499`, some of them frequent.
#[must_use]
pub fn made_up(id: &str, seed: u64, sentences: usize) -> Document {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let made: Vec<String> = (0..sentences)
        .map(|_| {
            let words = 4 + next(12);
            let words: Vec<String> = (0..words).map(|_| format!("w{}", next(500) * next(500) / 500)).collect();
            words.join(" ") + "."
        })
        .collect();
    Document::from_sentences(id, &made)
}

/// Copies a folder as it is at one moment, as a crash would leave it: again where something changed meanwhile.
///
/// # Panics
/// Where it never stays as it is, or cannot be copied.
pub fn copy_folder(from: &Path, to: &Path) {
    const ATTEMPTS: usize = 100;
    for _ in 0..ATTEMPTS {
        let before = listing(from);
        let copied = copy_all(from, to);
        if before.is_ok() && listing(from).ok() == before.ok() {
            return copied.unwrap();
        }
        std::fs::remove_dir_all(to).ok();
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{} changes all the time", from.display());
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_all(&entry.path(), &target)?,
            false => drop(std::fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}

/// Everything below a folder, with length and time of the last change.
fn listing(folder: &Path) -> io::Result<BTreeSet<(PathBuf, u64, SystemTime)>> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        if about.is_dir() {
            found.append(&mut listing(&entry.path())?);
        }
        found.insert((entry.path(), about.len(), about.modified()?));
    }
    Ok(found)
}
