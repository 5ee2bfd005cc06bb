//! Sentence vectors on disk: made once, found by the text, made anew where they are damaged.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use half::f16;
use pericope_learn::corpus::{CorpusError, EmbedProgress, EmbedReport, SentenceVectors, embed};
use pericope_testkit::encoders::{BagOfWords, DIMENSION};
use tempfile::TempDir;

/// A document of sentences `{prefix} {i}`, the segments ten sentences each, with headings.
fn document(prefix: &str, sentences: usize) -> String {
    let texts: Vec<String> = (0..sentences).map(|i| format!("{prefix} number {i}")).collect();
    let boundaries: Vec<usize> = (1..sentences).filter(|i| i % 10 == 0).collect();
    let headings: Vec<String> = (0..=boundaries.len()).map(|i| format!("{prefix} > Part {i}")).collect();
    let line = serde_json::json!({
        "id": prefix, "source": "made", "sentences": texts, "boundaries": boundaries, "headings": headings,
    });
    format!("{line}\n")
}

fn corpus(lines: &[String]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.jsonl");
    fs::write(&path, lines.concat()).unwrap();
    (folder, path)
}

fn run(data: &Path, out: &Path, encoder: &BagOfWords) -> Result<EmbedReport, CorpusError> {
    embed(&[data.to_owned()], out, encoder, &mut |_| ControlFlow::Continue(()))
}

fn vector(vectors: &SentenceVectors, text: &str) -> Option<Vec<f32>> {
    let mut found = vec![f32::NAN; vectors.dimension()];
    vectors.read(text, &mut found).unwrap().then_some(found)
}

fn shards(out: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "vec"));
    found.sort();
    found
}

#[test]
fn each_text_once_and_found_again_in_half_precision() {
    let (folder, data) = corpus(&[document("bread", 25), document("bread", 25), document("rye", 7)]);
    let out = folder.path().join("vectors");
    let encoder = BagOfWords::new();
    let report = run(&data, &out, &encoder).unwrap();
    // Sentences 25 and 7; headings "bread", "rye", "Part 0" to "Part 2".
    assert_eq!((report.documents, report.sentences, report.headings), (3, 57, 14));
    assert_eq!((report.distinct, report.embedded, report.missing), (37, 37, 0));
    assert_eq!(encoder.texts.load(Ordering::Relaxed), 37);
    let bytes: u64 = shards(&out).iter().map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!((report.bytes, bytes), (bytes, 48 + 37 * (16 + 2 * DIMENSION as u64 + 8)));

    let vectors = SentenceVectors::open(&out).unwrap();
    assert_eq!((vectors.len(), vectors.dimension(), vectors.fingerprint()), (37, DIMENSION, "v1"));
    for text in ["bread number 24", "rye number 0", "bread", "Part 2", "  bread number 3\n"] {
        let rounded: Vec<f32> = BagOfWords::vector(text).iter().map(|&x| f16::from_f32(x).to_f32()).collect();
        assert_eq!(vector(&vectors, text), Some(rounded), "{text}");
    }
    assert!(vectors.contains("rye") && !vectors.contains("Rye") && vector(&vectors, "Rye").is_none());
    let two = vectors.rows(["rye", "bread"]).unwrap();
    assert_eq!(two[..DIMENSION], vector(&vectors, "rye").unwrap());
    assert_eq!(two[DIMENSION..], vector(&vectors, "bread").unwrap());
    let error = vectors.rows(["rye", "a text\nthat nobody embedded"]).unwrap_err().to_string();
    assert!(error.contains("that nobody embedded") && error.contains("pericope train embed --out"), "{error}");
    assert!(!error.contains('\n'));
}

#[test]
fn a_second_run_adds_what_is_missing() {
    let (folder, data) = corpus(&[document("bread", 25)]);
    let out = folder.path().join("vectors");
    let encoder = BagOfWords::new();
    run(&data, &out, &encoder).unwrap();
    let before = fs::read(&shards(&out)[0]).unwrap();
    assert_eq!(run(&data, &out, &encoder).unwrap().embedded, 0);
    fs::write(&data, document("bread", 25) + &document("rye", 30)).unwrap();
    let report = run(&data, &out, &encoder).unwrap();
    assert_eq!((report.distinct, report.embedded), (25 + 30 + 2 + 3, 31));
    assert_eq!(encoder.texts.load(Ordering::Relaxed), 29 + 31);
    assert_eq!(SentenceVectors::open(&out).unwrap().len(), 60);
    assert_eq!(fs::read(&shards(&out)[0]).unwrap(), before);
}

#[test]
fn another_encoder_needs_another_folder() {
    let (folder, data) = corpus(&[document("bread", 3)]);
    let out = folder.path().join("vectors");
    run(&data, &out, &BagOfWords::new()).unwrap();
    let other = BagOfWords { fingerprint: "v2", texts: AtomicUsize::new(0), poison: None };
    let error = run(&data, &out, &other).unwrap_err();
    assert!(matches!(&error, CorpusError::OtherEncoder { stored, given, .. } if stored == "v1" && given == "v2"));
    assert!(error.to_string().ends_with("holds vectors of v1, and these would be of v2: name another folder"));
    let vectors = SentenceVectors::open(&out).unwrap();
    vectors.expect("v1").unwrap();
    assert!(vectors.expect("v2").is_err());
    let error = SentenceVectors::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("make it with `pericope train embed`"), "{error}");
}

/// Texts enough for two full shards and a part of a third.
fn large() -> (TempDir, PathBuf) {
    corpus(&(0..6).map(|i| document(&format!("loaf {i}"), 3_000)).collect::<Vec<_>>())
}

#[test]
fn an_interrupted_run_keeps_what_is_done_and_goes_on() {
    let (folder, data) = large();
    let (out, straight) = (folder.path().join("vectors"), folder.path().join("straight"));
    let encoder = BagOfWords::new();
    let mut seen: Vec<EmbedProgress> = Vec::new();
    let report = embed(std::slice::from_ref(&data), &out, encoder.as_ref(), &mut |at| {
        seen.push(at);
        // In the middle of the second shard.
        if at.texts > 10_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let report = report.unwrap();
    assert!(!report.is_complete() && report.embedded > 10_000 && report.embedded < 12_000, "{}", report.embedded);
    assert_eq!(SentenceVectors::open(&out).unwrap().len(), report.embedded);
    assert!(seen.is_sorted_by_key(|at| (at.texts, at.bytes)));
    assert!(seen.iter().all(|at| (at.of_texts, at.of_bytes) == (seen[0].of_texts, seen[0].of_bytes)));
    let first = report.embedded;
    let report = run(&data, &out, &encoder).unwrap();
    assert!(report.is_complete());
    assert_eq!((first + report.embedded, encoder.texts.load(Ordering::Relaxed)), (report.distinct, report.distinct));

    run(&data, &straight, &BagOfWords::new()).unwrap();
    let (vectors, straight) = (SentenceVectors::open(&out).unwrap(), SentenceVectors::open(&straight).unwrap());
    assert_eq!((vectors.len(), straight.len()), (report.distinct, report.distinct));
    for i in (0..3_000).step_by(97) {
        let text = format!("loaf 4 number {i}");
        assert_eq!(vector(&vectors, &text), vector(&straight, &text));
    }
}

#[test]
fn what_is_damaged_is_noticed_and_made_anew() {
    let (folder, data) = large();
    let out = folder.path().join("vectors");
    run(&data, &out, &BagOfWords::new()).unwrap();
    let whole = SentenceVectors::open(&out).unwrap();
    let files = shards(&out);
    assert_eq!(files.len(), 3);
    let rows = |path: &Path| u32::from_le_bytes(fs::read(path).unwrap()[12..16].try_into().unwrap()) as usize;

    // Cut off: the length says so.
    let torn = rows(&files[1]);
    let length = files[1].metadata().unwrap().len();
    OpenOptions::new().write(true).open(&files[1]).unwrap().set_len(length - 700).unwrap();
    let error = SentenceVectors::open(&out).unwrap_err().to_string();
    assert!(error.contains("000001.vec") && error.contains("makes what is damaged anew"), "{error}");
    // A number changed in the last row: the row says so when it is read.
    let changed = rows(&files[2]);
    let mut bytes = fs::read(&files[2]).unwrap();
    let at = bytes.len() - 24 - 8 - 2;
    bytes[at] ^= 1;
    fs::write(&files[2], &bytes).unwrap();
    // What a killed process leaves of the file that it was at.
    fs::File::create(out.join("000003.vec.abcdef.unfinished")).unwrap().write_all(b"PERISEN1").unwrap();

    let encoder = BagOfWords::new();
    let report = run(&data, &out, &encoder).unwrap();
    assert_eq!((report.damaged, report.embedded), (2, torn + changed));
    assert_eq!(encoder.texts.load(Ordering::Relaxed), torn + changed);
    assert!(!out.join("000003.vec.abcdef.unfinished").exists());
    let again = SentenceVectors::open(&out).unwrap();
    assert_eq!(again.len(), whole.len());
    for i in (0..3_000).step_by(97) {
        let text = format!("loaf 5 number {i}");
        assert!(vector(&again, &text).is_some(), "{text}");
    }
}

#[test]
fn a_changed_row_is_never_given() {
    let (folder, data) = corpus(&[document("bread", 3)]);
    let out = folder.path().join("vectors");
    run(&data, &out, &BagOfWords::new()).unwrap();
    let path = shards(&out).remove(0);
    let whole = fs::read(&path).unwrap();
    let texts = ["bread number 0", "bread number 1", "bread number 2", "bread", "Part 0"];
    // Every byte counts: a change is noticed when the folder is opened, or when a vector is read.
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let noticed = match SentenceVectors::open(&out) {
            Err(_) => true,
            Ok(vectors) => vectors.rows(texts).is_err(),
        };
        // The checksum over all rows is for the command alone.
        let of_rows = whole.len() - 16..whole.len() - 8;
        assert!(noticed || of_rows.contains(&at), "byte {at} of {}", whole.len());
        assert_eq!(run(&data, &out, &BagOfWords::new()).unwrap().damaged, 1, "byte {at}");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    struct Broken;
    impl pericope_api::SentenceEncoder for Broken {
        fn name(&self) -> &str {
            "broken"
        }
        fn fingerprint(&self) -> String {
            "broken".into()
        }
        fn dimension(&self) -> usize {
            2
        }
        fn max_tokens(&self) -> usize {
            8
        }
        fn encode(&self, texts: &[&str]) -> Result<pericope_api::Embeddings, pericope_api::EncodeError> {
            let values = texts.iter().flat_map(|text| [1.0, if text.contains('1') { 1e6 } else { 0.0 }]).collect();
            Ok(pericope_api::Embeddings::new(2, values))
        }
    }
    let (folder, data) = corpus(&[document("bread", 3)]);
    let out = folder.path().join("vectors");
    let error = embed(&[data], &out, &Broken, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(&error, CorpusError::NotFinite { text } if text == "bread number 1"), "{error}");
    assert!(shards(&out).is_empty());
}

#[test]
fn one_process_at_a_time_and_data_that_is_none() {
    let (folder, data) = corpus(&["nonsense\n".to_owned()]);
    let out = folder.path().join("vectors");
    let error = run(&data, &out, &BagOfWords::new()).unwrap_err().to_string();
    assert!(error.contains("data.jsonl:1: expected"), "{error}");
    let held = pericope_util::FolderLock::take(&out).unwrap();
    assert!(matches!(run(&data, &out, &BagOfWords::new()), Err(CorpusError::Lock(_))));
    drop(held);
    fs::write(&data, document("bread", 3) + "nonsense\n").unwrap();
    let report = run(&data, &out, &BagOfWords::new()).unwrap();
    assert_eq!((report.documents, report.skipped.count), (1, 1));
    assert_eq!(report.skipped.problems.len(), 1);
    let shared: Arc<BagOfWords> = BagOfWords::new();
    let poisoned = BagOfWords { poison: Some("rye"), ..Arc::into_inner(shared).unwrap() };
    fs::write(&data, document("rye", 3)).unwrap();
    assert!(matches!(run(&data, &out, &poisoned), Err(CorpusError::Encode(_))));
}
