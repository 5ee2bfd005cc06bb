//! Measures sentence splitters: the sentences of a segmentation file are joined by single spaces, document by document,
//! and split again; a boundary counts as found where it ends at exactly the same byte.
//!
//! ```text
//! PERICOPE_DATA=... cargo run --release -p pericope-read --example splitter_f1
//! ... -- --errors SPLITTER FILE      what a splitter gets wrong
//! ... -- --reading                   the speed of the readers on docs/*.raw.jsonl
//! ... -- --reading FILE...           the speed of reading files (a PDF, say)
//! ```
//!
//! Documents with an even line number (from 0) are those that our rules were tuned on; the figures of the others are
//! the ones to believe; `--errors` prints from the even ones alone.

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use icu_segmenter::options::SentenceBreakInvariantOptions;
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed};
use pericope_api::Span;
use pericope_read::{
    BreakFinder, ReadOptions, SentenceSplitter, WindowedSplitter, default_splitter, read_path, read_text,
};
use unicode_segmentation::UnicodeSegmentation;

/// `icu_segmenter`: Unicode Annex 29, driven by tables.
struct Icu(SentenceSegmenterBorrowed<'static>);

impl Icu {
    fn new() -> Self {
        Self(SentenceSegmenter::new(SentenceBreakInvariantOptions::default()))
    }
}

impl BreakFinder for Icu {
    fn find_breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        self.0.segment_str(text).skip(1).for_each(sink);
    }
}

/// `unicode-segmentation`: the same annex, by rules in code.
struct Unicode;

impl BreakFinder for Unicode {
    fn find_breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        text.split_sentence_bound_indices().skip(1).for_each(|(at, _)| sink(at));
    }
}

/// `sentencex`: rules and abbreviations of many languages, of which English is taken.
struct Sentencex;

impl BreakFinder for Sentencex {
    fn find_breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        for sentence in sentencex::get_sentence_boundaries("en", text) {
            sink(sentence.end_byte);
        }
    }
}

/// The splitters that are measured, the default first.
fn splitters() -> Vec<Arc<dyn SentenceSplitter>> {
    vec![
        default_splitter(),
        Arc::new(WindowedSplitter::new("icu", Icu::new())),
        Arc::new(WindowedSplitter::new("unicode-refined", Unicode).refined()),
        Arc::new(WindowedSplitter::new("unicode", Unicode)),
        Arc::new(WindowedSplitter::new("sentencex-refined", Sentencex).refined()),
        Arc::new(WindowedSplitter::new("sentencex", Sentencex)),
    ]
}

/// A document of a segmentation file, joined again.
struct Joined {
    text: String,
    /// Where its sentences end, the document's own end left out.
    ends: Vec<usize>,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    found: usize,
    gold: usize,
    both: usize,
}

impl Counts {
    fn f1(self) -> f64 {
        if self.found + self.gold == 0 { 1.0 } else { 2.0 * self.both as f64 / (self.found + self.gold) as f64 }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(data) = std::env::var_os("PERICOPE_DATA") else {
        return Err("set PERICOPE_DATA to the folder that holds segmentation/*.jsonl".into());
    };
    let folder = Path::new(&data).join("segmentation");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name, file] = arguments.as_slice()
        && flag == "--errors"
    {
        let splitter = splitters().into_iter().find(|splitter| splitter.name() == name);
        let splitter = splitter.ok_or_else(|| format!("no splitter is called {name}"))?;
        return print_errors(splitter.as_ref(), &load(&folder.join(file))?);
    }
    if let [flag, files @ ..] = arguments.as_slice()
        && flag == "--reading"
        && !files.is_empty()
    {
        return reading_files(files);
    }
    if arguments == ["--reading"] {
        return reading(&Path::new(&data).join("docs"));
    }
    let mut files: Vec<_> = std::fs::read_dir(&folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    println!("| file | splitter | F1 tuned half | F1 held-out half | precision held-out | recall held-out | MB/s |");
    println!("|---|---|---|---|---|---|---|");
    for path in &files {
        let documents = load(path)?;
        for splitter in splitters() {
            let name = splitter.name();
            let (halves, seconds, bytes) = measure(splitter.as_ref(), &documents);
            let held = halves[1];
            println!(
                "| {} | {name} | {:.4} | {:.4} | {:.4} | {:.4} | {:.1} |",
                path.file_stem().unwrap_or_default().to_string_lossy(),
                halves[0].f1(),
                held.f1(),
                held.both as f64 / held.found.max(1) as f64,
                held.both as f64 / held.gold.max(1) as f64,
                bytes as f64 / 1e6 / seconds.as_secs_f64(),
            );
        }
    }
    Ok(())
}

/// Takes every block for one sentence: what is left of the time is the parser's and the builder's.
struct Whole;

impl SentenceSplitter for Whole {
    fn name(&self) -> &str {
        "none"
    }

    fn split(&self, text: &str, sink: &mut dyn FnMut(Span)) {
        let span = Span::new(0, text.len()).trimmed(text);
        if !span.is_empty() {
            sink(span);
        }
    }
}

/// Prints MB of source read per second on one core, with and without sentence splitting, by format.
fn reading(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.to_string_lossy().ends_with(".raw.jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(&path)?.lines() {
            let value: serde_json::Value = serde_json::from_str(line)?;
            let field = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
            texts.push((field("format"), field("text")));
        }
    }
    let whole = ReadOptions { splitter: Arc::new(Whole), ..ReadOptions::default() };
    println!("| read as | documents | MB | sentences | MB/s | MB/s without splitting |");
    println!("|---|---|---|---|---|---|");
    let pairs = [
        ("md", "markdown"),
        ("md", "mdx"),
        ("md", "html"),
        ("md", "plain"),
        ("md", "asciidoc"),
        ("rst", "rst"),
        ("rst", "plain"),
    ];
    for (source, format) in pairs {
        let chosen: Vec<&str> = texts.iter().filter(|(f, _)| f == source).map(|(_, text)| text.as_str()).collect();
        let megabytes = chosen.iter().map(|text| text.len()).sum::<usize>() as f64 / 1e6;
        let pass = |options: &ReadOptions| -> Result<(usize, f64), Box<dyn Error>> {
            let start = Instant::now();
            let mut sentences = 0;
            for text in &chosen {
                sentences += read_text("d", format, *text, options)?.len();
            }
            Ok((sentences, megabytes / start.elapsed().as_secs_f64()))
        };
        let (mut sentences, mut speeds) = (0, [0f64; 2]);
        for _ in 0..3 {
            for (options, best) in [ReadOptions::default(), whole.clone()].iter().zip(&mut speeds) {
                let (found, speed) = pass(options)?;
                sentences = sentences.max(found);
                *best = best.max(speed);
            }
        }
        let [with, without] = speeds;
        println!(
            "| {source} as {format} | {} | {megabytes:.1} | {sentences} | {with:.0} | {without:.0} |",
            chosen.len()
        );
    }
    Ok(())
}

/// Prints how long files take to be read, from the disk to documents: the fastest of three times.
fn reading_files(files: &[String]) -> Result<(), Box<dyn Error>> {
    println!("| file | MB | MB of text | sentences | MB/s of file | MB/s of text |");
    println!("|---|---|---|---|---|---|");
    for file in files {
        let megabytes = std::fs::metadata(file)?.len() as f64 / 1e6;
        let (mut fastest, mut text, mut sentences) = (f64::INFINITY, 0, 0);
        for _ in 0..3 {
            let start = Instant::now();
            let documents = read_path(file, &ReadOptions::default())?;
            fastest = fastest.min(start.elapsed().as_secs_f64());
            text = documents.iter().map(|document| document.source.len()).sum();
            sentences = documents.iter().map(|document| document.len()).sum::<usize>();
        }
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = text as f64 / 1e6;
        println!(
            "| {name} | {megabytes:.2} | {text:.2} | {sentences} | {:.2} | {:.2} |",
            megabytes / fastest,
            text / fastest
        );
    }
    Ok(())
}

/// Counts of the even and of the odd documents, the fastest of three passes, and the bytes of a pass.
fn measure(splitter: &dyn SentenceSplitter, documents: &[Joined]) -> ([Counts; 2], Duration, usize) {
    let mut halves = [Counts::default(); 2];
    for (i, document) in documents.iter().enumerate() {
        let found = ends(splitter, &document.text);
        let gold: HashSet<usize> = document.ends.iter().copied().collect();
        let half = &mut halves[i % 2];
        half.found += found.len();
        half.gold += gold.len();
        half.both += found.iter().filter(|end| gold.contains(end)).count();
    }
    let pass = || {
        let start = Instant::now();
        let mut sentences = 0usize;
        for document in documents {
            splitter.split(&document.text, &mut |_| sentences += 1);
        }
        std::hint::black_box(sentences);
        start.elapsed()
    };
    let fastest = (0..3).map(|_| pass()).min().unwrap_or_default();
    (halves, fastest, documents.iter().map(|d| d.text.len()).sum())
}

/// Ends of all sentences that end before the text does.
fn ends(splitter: &dyn SentenceSplitter, text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let last = text.trim_end().len();
    splitter.split(text, &mut |span: Span| ends.push(span.end));
    ends.retain(|&end| end < last);
    ends
}

fn load(path: &Path) -> Result<Vec<Joined>, Box<dyn Error>> {
    let mut documents = Vec::new();
    for line in std::fs::read_to_string(path)?.lines().filter(|line| !line.trim().is_empty()) {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let sentences = value["sentences"].as_array().ok_or("a line without sentences")?;
        let mut joined = Joined { text: String::new(), ends: Vec::new() };
        for sentence in sentences.iter().filter_map(|s| s.as_str()).map(str::trim).filter(|s| !s.is_empty()) {
            if !joined.text.is_empty() {
                joined.ends.push(joined.text.len());
                joined.text.push(' ');
            }
            joined.text.push_str(sentence);
        }
        documents.push(joined);
    }
    Ok(documents)
}

/// Prints each wrong (`+`) and each missed (`-`) boundary with the text around it.
fn print_errors(splitter: &dyn SentenceSplitter, documents: &[Joined]) -> Result<(), Box<dyn Error>> {
    for document in documents.iter().step_by(2) {
        let found: HashSet<usize> = ends(splitter, &document.text).into_iter().collect();
        let gold: HashSet<usize> = document.ends.iter().copied().collect();
        let mut wrong: Vec<_> = found.symmetric_difference(&gold).copied().collect();
        wrong.sort_unstable();
        for at in wrong {
            let from = document.text.floor_char_boundary(at.saturating_sub(40));
            let to = document.text.ceil_char_boundary((at + 30).min(document.text.len()));
            let sign = if found.contains(&at) { '+' } else { '-' };
            println!("{sign} {}¦{}", &document.text[from..at], &document.text[at..to]);
        }
    }
    Ok(())
}
