//! Runs over the same sources again: what is read, cut, embedded, removed, and what is left alone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pericope_api::{Chunk, Document};
use pericope_index::pipeline::{Failure, Metadata, Options, Report, Source, prune, run};
use pericope_index::{
    Contents, Destination, EmbeddingCache, IndexReader, IndexSpec, IndexStats, IndexWriter, MANIFEST_FILE, Retriever,
    VectorCache,
};
use pericope_store::FileStamp;

use crate::dense_spec;
use pericope_testkit::documents::{made_up, sentence_chunks};
use pericope_testkit::encoders::{BagOfWords, DIMENSION};

/// Sources in memory: names, and the documents (id, sentences) in each. A document without sentences is a bad line.
#[derive(Default, Clone)]
pub(crate) struct Shelf {
    pub(crate) sources: BTreeMap<String, Vec<(String, Vec<String>)>>,
    read: Arc<Mutex<Vec<String>>>,
    hashed: Arc<AtomicUsize>,
    /// Set: the stamp of every source changes whenever it is looked at.
    restless: Arc<AtomicI64>,
}

impl Shelf {
    pub(crate) fn put(&mut self, name: &str, documents: &[(&str, &[&str])]) {
        let owned = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
        let documents = documents.iter().map(|(id, texts)| ((*id).to_owned(), owned(texts))).collect();
        self.sources.insert(name.to_owned(), documents);
    }

    fn put_document(&mut self, document: &Document) {
        let sentences = (0..document.len()).map(|i| document.sentence(i).to_owned()).collect();
        self.sources.insert(document.id.clone(), vec![(document.id.clone(), sentences)]);
    }

    fn names(&self) -> Vec<String> {
        self.sources.keys().cloned().collect()
    }

    /// The names of what was read since the last call.
    pub(crate) fn take_read(&self) -> Vec<String> {
        let mut read = std::mem::take(&mut *self.read.lock().unwrap());
        read.sort();
        read
    }
}

impl Source for Shelf {
    type Item = String;

    fn about(&self, name: &String) -> Metadata {
        let bytes = self.sources[name].iter().flat_map(|d| &d.1).map(|t| t.len() as i64).sum::<i64>();
        let modified = match self.restless.load(Ordering::Relaxed) {
            0 => bytes,
            _ => self.restless.fetch_add(1, Ordering::Relaxed),
        };
        let stamp = FileStamp { size: bytes, modified, inode: 1 };
        Metadata { name: Some(name.clone()), bytes: bytes as u64, stamp: Some(stamp), guarded: false }
    }

    fn hash(&self, name: &String) -> Option<u128> {
        self.hashed.fetch_add(1, Ordering::Relaxed);
        Some(Chunk::content_hash(&format!("{:?}", self.sources[name])))
    }

    fn read(&self, name: &mut String, each: &mut dyn FnMut(Result<Document, Failure>)) {
        self.read.lock().unwrap().push(name.clone());
        assert!(!name.contains("poison"), "a reader that fails on this name");
        for (i, (id, sentences)) in self.sources[name].iter().enumerate() {
            each(match sentences.is_empty() {
                false => Ok(Document::from_sentences(id, sentences)),
                true => Err(Failure::new("", format!("{name}, line {i}: broken"))),
            });
        }
    }
}

/// A pass over the shelf, pruning where asked; what it did, and what the index holds then.
pub(crate) fn pass(
    dir: &std::path::Path,
    spec: &IndexSpec,
    shelf: &Shelf,
    options: &Options,
    pruning: bool,
) -> (Report, IndexStats, Contents) {
    let mut writer = IndexWriter::create_or_open(dir, spec).unwrap();
    let report = run(&mut writer, shelf.clone(), shelf.names(), |d| Ok(sentence_chunks(d)), options, |_| {}).unwrap();
    if pruning {
        prune(&mut writer, &[String::new()], &report.met, |_| false).unwrap();
    }
    let reader = writer.reader();
    let destination: Box<dyn Destination> = Box::new(writer);
    let stats = destination.finish(&report.summary()).unwrap().stats;
    reader.reload().unwrap();
    let contents = reader.contents().unwrap();
    assert_eq!(contents.agree(), Ok(()));
    (report, stats, contents)
}

/// What an index looks like that is built from the shelf at once.
fn clean(spec: &IndexSpec, shelf: &Shelf) -> Contents {
    let dir = tempfile::tempdir().unwrap();
    pass(dir.path(), spec, shelf, &Options::default(), false).2
}

fn library() -> Shelf {
    let mut shelf = Shelf::default();
    for i in 0..30 {
        shelf.put_document(&made_up(&format!("d{i:02}.md"), i, 12));
    }
    shelf
}

#[test]
fn what_has_not_changed_costs_a_hash() {
    let dir = tempfile::tempdir().unwrap();
    let (shelf, spec) = (library(), dense_spec());
    let (report, stats, first) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!((report.progress.sources, report.progress.documents, stats.chunks), (30, 30, 360));
    assert_eq!((report.written.len(), report.met.len(), stats.texts_embedded), (30, 30, 360));
    assert_eq!(shelf.take_read().len(), 30);
    let (report, stats, second) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!((report.progress.unchanged, report.progress.documents, stats.texts_embedded), (30, 0, 0));
    assert_eq!((shelf.take_read().len(), report.written.len()), (0, 0));
    assert_eq!(first, second);
    // The stamps are old enough to be believed: not even a hash.
    let hashed = shelf.hashed.swap(0, Ordering::Relaxed);
    assert_eq!(hashed, 60);
    let mut options = Options { trust_stamps: true, ..Options::default() };
    pass(dir.path(), &spec, &shelf, &options, false);
    assert_eq!(shelf.hashed.load(Ordering::Relaxed), 0);
    options.distrust.insert("d07.md".into());
    pass(dir.path(), &spec, &shelf, &options, false);
    assert_eq!(shelf.hashed.load(Ordering::Relaxed), 1);
}

#[test]
fn documents_without_text_are_no_part_of_a_source() {
    let dir = tempfile::tempdir().unwrap();
    let (mut shelf, spec) = (Shelf::default(), dense_spec());
    shelf.put("rows.jsonl", &[("a", &["Foxes dig."]), ("b", &[" "]), ("c", &["Hares run."]), ("d", &[" "])]);
    let (report, stats, _) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!((report.progress.documents, report.progress.empty, report.empty), (2, 2, vec!["b".into(), "d".into()]));
    assert_eq!((stats.documents, report.progress.failed, shelf.take_read().len()), (2, 0, 1));
    // Whether they are read or not, there are as many of them.
    shelf.put("empty.md", &[("empty.md", &[" "])]);
    for unchanged in [1, 2] {
        let (report, ..) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
        assert_eq!((report.progress.unchanged, report.progress.empty), (unchanged, 3));
    }
    shelf.sources.remove("empty.md");
    shelf.take_read();
    // Nor where the manifest is made again: all that has text is there.
    std::fs::remove_file(dir.path().join(MANIFEST_FILE)).unwrap();
    let (report, ..) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!((report.progress.unchanged, report.progress.empty, shelf.take_read().len()), (1, 2, 0));
}

#[test]
fn only_texts_that_changed_are_embedded() {
    let dir = tempfile::tempdir().unwrap();
    let (mut shelf, spec) = (library(), dense_spec());
    pass(dir.path(), &spec, &shelf, &Options::default(), false);
    shelf.take_read();
    // A new first sentence moves all that follow; another document is renamed, a third one goes.
    let mut sentences = vec!["A sentence that was not there.".to_owned()];
    sentences.extend(shelf.sources["d03.md"][0].1.clone());
    shelf.sources.get_mut("d03.md").unwrap()[0].1 = sentences;
    let moved = shelf.sources.remove("d05.md").unwrap()[0].1.clone();
    shelf.sources.insert("moved.md".into(), vec![("moved.md".into(), moved)]);
    shelf.sources.remove("d09.md");
    let (report, stats, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!(shelf.take_read(), ["d03.md", "moved.md"]);
    assert_eq!((report.progress.documents, report.progress.unchanged), (2, 27));
    assert_eq!((stats.texts_embedded, stats.texts_reused), (1, 24));
    assert_eq!((stats.documents, stats.documents_removed), (29, 2));
    same(&contents, &clean(&spec, &shelf));
}

/// Vectors that were stored once and taken out again may differ in their last bits.
fn same(a: &Contents, b: &Contents) {
    assert_eq!(a.chunks, b.chunks);
    assert_eq!(a.manifest, b.manifest);
    let documents = |contents: &Contents| -> BTreeMap<String, Vec<(String, Option<u128>)>> {
        contents.sources.sources.iter().map(|(name, s)| (name.clone(), s.documents.clone())).collect()
    };
    assert_eq!(documents(a), documents(b));
    for (x, y) in a.vectors.iter().flatten().zip(b.vectors.iter().flatten()) {
        assert!(x.0 == y.0 && x.1.iter().zip(y.1).all(|(x, y)| (x - y).abs() < 1e-6));
    }
}

#[test]
fn a_file_of_many_documents_is_taken_apart() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dense_spec();
    let mut shelf = Shelf::default();
    shelf.put("many.jsonl", &[("one", &["Foxes dig."]), ("two", &["Hares run."]), ("three", &["Owls hoot."])]);
    shelf.put("other.md", &[("other.md", &["Bees hum."])]);
    pass(dir.path(), &spec, &shelf, &Options::default(), false);
    // One stays, one changes, one goes, one comes.
    shelf.put("many.jsonl", &[("one", &["Foxes dig."]), ("two", &["Hares sleep."]), ("four", &["Eels swim."])]);
    let (report, stats, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    let progress = report.progress;
    assert_eq!((progress.documents, progress.same, progress.removed, progress.unchanged), (2, 1, 1, 1));
    assert_eq!((stats.texts_embedded, stats.documents), (2, 4));
    same(&contents, &clean(&spec, &shelf));

    // A broken line: nothing is removed, and the file is read until it is mended.
    shelf.put("many.jsonl", &[("one", &["Foxes dig."]), ("two", &[]), ("four", &["Eels swim."])]);
    for _ in 0..2 {
        shelf.take_read();
        let (report, stats, _) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
        assert_eq!((report.failures[0].reason.as_str(), report.failures.len()), ("many.jsonl, line 1: broken", 1));
        assert_eq!((stats.documents, report.progress.same), (4, 2));
        assert_eq!(shelf.take_read(), ["many.jsonl"]);
    }
    shelf.put("many.jsonl", &[("one", &["Foxes dig."]), ("four", &["Eels swim."])]);
    let (_, stats, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!(stats.documents, 3);
    same(&contents, &clean(&spec, &shelf));
}

#[test]
fn one_id_in_two_files_is_named_and_the_first_counts() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dense_spec();
    let mut shelf = Shelf::default();
    shelf.put("a.jsonl", &[("x", &["Of the first."]), ("y", &["Alone."])]);
    shelf.put("b.jsonl", &[("x", &["Of the second."])]);
    for _ in 0..2 {
        let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
        assert_eq!(report.failures.len(), 1);
        let failure = &report.failures[0];
        assert!(failure.document.contains("b.jsonl") && failure.reason.contains("a.jsonl"), "{failure:?}");
        assert!(contents.chunks.values().any(|c| c.text == "Of the first."));
    }
    // The first lets it go: the second may have it.
    shelf.put("a.jsonl", &[("y", &["Alone."])]);
    let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!(report.failures, []);
    same(&contents, &clean(&spec, &shelf));
}

#[test]
fn documents_move_with_a_file_that_is_renamed() {
    for (old, new) in [("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")] {
        let dir = tempfile::tempdir().unwrap();
        let spec = dense_spec();
        let mut shelf = Shelf::default();
        shelf.put(old, &[("one", &["Foxes dig."]), ("two", &["Hares run."])]);
        shelf.put("other.md", &[("other.md", &["Bees hum."])]);
        pass(dir.path(), &spec, &shelf, &Options::default(), false);
        let documents = shelf.sources.remove(old).unwrap();
        shelf.sources.insert(new.to_owned(), documents);
        for _ in 0..2 {
            let (report, stats, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
            assert_eq!((report.failures.len(), stats.documents), (0, 3), "{old} is {new}");
            same(&contents, &clean(&spec, &shelf));
        }
    }
}

#[test]
fn a_document_that_an_earlier_file_took_comes_back() {
    // The file that had it first stays as it is, or changes elsewhere.
    for alone in ["Alone.", "Still alone."] {
        let dir = tempfile::tempdir().unwrap();
        let spec = dense_spec();
        let mut shelf = Shelf::default();
        shelf.put("b.jsonl", &[("x", &["Of the old one."]), ("y", &["Alone."])]);
        pass(dir.path(), &spec, &shelf, &Options::default(), false);
        shelf.put("b.jsonl", &[("x", &["Of the old one."]), ("y", &[alone])]);
        shelf.put("a.jsonl", &[("x", &["Of the new one."]), ("z", &["Another."])]);
        for _ in 0..2 {
            let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
            assert_eq!(report.failures.len(), 1);
            let failure = &report.failures[0];
            assert!(failure.document.contains("b.jsonl") && failure.reason.contains("a.jsonl"), "{failure:?}");
            assert!(report.failed.contains("b.jsonl") && report.failed.len() == 1, "{:?}", report.failed);
            assert!(contents.chunks.values().any(|c| c.text == "Of the new one."));
        }
        shelf.put("a.jsonl", &[("z", &["Another."])]);
        let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
        assert_eq!(report.failures, []);
        same(&contents, &clean(&spec, &shelf));
    }
}

#[test]
fn a_line_that_is_called_as_a_file_does_not_displace_it() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dense_spec();
    let mut shelf = Shelf::default();
    shelf.put("page.md", &[("page.md", &["The page itself."])]);
    pass(dir.path(), &spec, &shelf, &Options::default(), false);
    shelf.put("z.jsonl", &[("page.md", &["A line."]), ("z", &["Another."])]);
    let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!((report.failures.len(), report.failures[0].document.contains("z.jsonl")), (1, true));
    assert!(contents.chunks.values().any(|c| c.text == "The page itself."));
    // One that comes first takes its place until it lets go.
    shelf.sources.remove("z.jsonl");
    shelf.put("a.jsonl", &[("page.md", &["A line."]), ("z", &["Another."])]);
    pass(dir.path(), &spec, &shelf, &Options::default(), true);
    shelf.put("a.jsonl", &[("z", &["Another."])]);
    let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!(report.failures, []);
    same(&contents, &clean(&spec, &shelf));
}

#[test]
fn threads_and_memory_do_not_show() {
    let (spec, mut shelf) = (dense_spec(), library());
    shelf.put("many.jsonl", &[("one", &["Foxes dig."]), ("two", &[]), ("three", &["Owls hoot."])]);
    let expected = clean(&spec, &shelf);
    for (threads, memory) in [(1, 1), (1, 1 << 20), (7, 20_000), (16, 1 << 30)] {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { threads, memory, ..Options::default() };
        let (report, _, contents) = pass(dir.path(), &spec, &shelf, &options, false);
        assert_eq!(contents, expected, "{threads} threads, {memory} bytes");
        assert_eq!(report.failures.len(), 1);
    }
}

#[test]
fn an_interrupted_run_is_gone_on_with() {
    let spec = IndexSpec::new("sentence", "words");
    for spec in [spec, dense_spec()] {
        let (dir, shelf) = (tempfile::tempdir().unwrap(), library());
        let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
        // Little memory, so that the reader cannot run far ahead of what stops it.
        let options = Options { threads: 1, memory: 40_000, ..Options::default() };
        let stop = options.stop.clone();
        let report = run(
            &mut writer,
            shelf.clone(),
            shelf.names(),
            |d| Ok(sentence_chunks(d)),
            &options,
            |progress| {
                stop.store(progress.sources >= 5, Ordering::Relaxed);
            },
        );
        let report = report.unwrap();
        let stats = writer.finish().unwrap();
        assert!(report.interrupted);
        assert!((5..30).contains(&stats.documents), "{}", stats.documents);
        let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
        assert_eq!(report.progress.unchanged, stats.documents);
        same(&contents, &clean(&spec, &shelf));
    }
}

#[test]
fn a_lost_manifest_is_made_again_from_the_index() {
    let dir = tempfile::tempdir().unwrap();
    let (mut shelf, spec) = (library(), dense_spec());
    shelf.put("many.jsonl", &[("one", &["Foxes dig."]), ("two", &["Hares run."])]);
    let (_, _, before) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    shelf.take_read();
    std::fs::remove_file(dir.path().join(MANIFEST_FILE)).unwrap();
    let (report, _, after) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!((report.progress.unchanged, shelf.take_read().len()), (31, 0));
    same(&before, &after);
    // A part of a file that was removed by hand is missed.
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
    assert!(writer.remove("one").unwrap());
    writer.finish().unwrap();
    std::fs::write(dir.path().join(MANIFEST_FILE), "garbage").unwrap();
    let (_, _, after) = pass(dir.path(), &spec, &shelf, &Options::default(), true);
    assert_eq!(shelf.take_read(), ["many.jsonl"]);
    same(&before, &after);
}

#[test]
fn what_changes_under_the_readers_hands_is_left_for_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let (shelf, spec) = (library(), dense_spec());
    pass(dir.path(), &spec, &shelf, &Options::default(), false);
    let dir = tempfile::tempdir().unwrap();
    shelf.restless.store(1, Ordering::Relaxed);
    let (report, stats, _) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!((report.failures.len(), stats.documents), (30, 0));
    assert!(report.failures[0].document == "d00.md" && report.failures[0].reason.contains("changed while"));
    shelf.restless.store(0, Ordering::Relaxed);
    let (report, _, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!(report.progress.documents, 30);
    same(&contents, &clean(&spec, &shelf));
}

#[test]
fn a_reader_that_panics_is_one_bad_source() {
    let dir = tempfile::tempdir().unwrap();
    let mut shelf = library();
    shelf.put("poison.pdf", &[("poison.pdf", &["x"])]);
    let (report, stats, _) = pass(dir.path(), &dense_spec(), &shelf, &Options::default(), false);
    assert_eq!((report.failures.len(), stats.documents), (1, 30));
    assert_eq!(report.failures[0].document, "poison.pdf");
}

#[test]
fn another_segmenter_state_reads_everything_again_and_embeds_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let (shelf, spec) = (library(), dense_spec());
    let weights = |w: &str| spec.clone().with_segmenter_fingerprint(Some(w.into()));
    pass(dir.path(), &weights("a"), &shelf, &Options::default(), false);
    let error = IndexWriter::create_or_open(dir.path(), &weights("b")).err().unwrap().to_string();
    assert!(error.contains("segmenter weights `a`, not `b`") && error.contains("--rebuild"), "{error}");
    assert!(IndexWriter::create_or_open(dir.path(), &spec).is_err());
    let mut writer = IndexWriter::rebuild(dir.path(), &weights("b")).unwrap();
    assert!(writer.known().unwrap().sources.is_empty());
    assert_ne!(writer.about().fingerprint, pericope_index::IndexMeta::new(&weights("a")).built_with().fingerprint());
}

#[test]
fn a_run_that_breaks_off_keeps_what_was_embedded() {
    let mut shelf = Shelf::default();
    for i in 0..30 {
        shelf.put_document(&made_up(&format!("d{i:02}.md"), i, 30));
    }
    let (dir, spec) = (tempfile::tempdir().unwrap(), dense_spec());
    let mut spoilt = shelf.clone();
    spoilt.put("d15.md", &[("d15.md", &["Some cyanide."])]);
    let faulty = Arc::new(BagOfWords { fingerprint: "v1", texts: AtomicUsize::new(0), poison: Some("cyanide") });
    let failing = IndexSpec::new("sentence", "words").with_encoder(faulty);
    let mut writer = IndexWriter::create_or_open(dir.path(), &failing).unwrap();
    writer.commit_every(1);
    let names = spoilt.names();
    let chunk = |document: &Document| Ok(sentence_chunks(document));
    assert!(run(&mut writer, spoilt, names, chunk, &Options::default(), |_| {}).is_err());
    drop(writer);
    // The first batch of 256 chunks ends in the ninth document, the second holds what cannot be embedded.
    let kept = IndexReader::open_expecting(dir.path(), &spec).unwrap().chunks().unwrap();
    assert_eq!(kept, 240);
    let (_, stats, contents) = pass(dir.path(), &spec, &shelf, &Options::default(), false);
    assert_eq!(stats.texts_embedded, 900 - kept);
    assert_eq!(contents, clean(&spec, &shelf));
}

#[test]
fn a_shared_cache_spares_the_encoder_a_second_index() {
    let (shelf, folder) = (library(), tempfile::tempdir().unwrap());
    let encoder = BagOfWords::new();
    let spec = IndexSpec::new("sentence", "words").with_encoder(encoder.clone());
    let path = folder.path().join("vectors.sqlite");
    let cache = EmbeddingCache::for_encoder(&path, encoder.as_ref()).unwrap();
    let options = Options { cache: Some(std::sync::Arc::new(cache)), ..Options::default() };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (_, first, contents) = pass(dirs[0].path(), &spec, &shelf, &options, false);
    let (_, second, again) = pass(dirs[1].path(), &spec, &shelf, &options, false);
    assert_eq!((first.texts_embedded, first.texts_reused), (360, 0));
    assert_eq!((second.texts_embedded, second.texts_reused), (0, 360));
    assert_eq!(encoder.texts.load(Ordering::Relaxed), 360);
    assert_eq!(contents, again);
}

#[test]
fn damaged_vectors_of_a_cache_are_embedded_again_and_counted() {
    let (shelf, folder) = (library(), tempfile::tempdir().unwrap());
    let encoder = BagOfWords::new();
    let spec = IndexSpec::new("sentence", "words").with_encoder(encoder.clone());
    let path = folder.path().join("vectors.sqlite");
    let into = |name: &str| {
        let cache = EmbeddingCache::for_encoder(&path, encoder.as_ref()).unwrap();
        let options = Options { cache: Some(std::sync::Arc::new(cache)), ..Options::default() };
        let (_, stats, contents) = pass(&folder.path().join(name), &spec, &shelf, &options, false);
        ((stats.texts_embedded, stats.texts_reused, stats.vectors_rejected), contents)
    };
    let (first, whole) = into("first");
    assert_eq!(first, (360, 0, 0));
    // As another program, an earlier version or a disk may leave entries: one not finite, one too short, one flipped.
    let db = rusqlite::Connection::open(&path).unwrap();
    let spoil = |n: u32, vector: &str| {
        let update = "UPDATE vector SET vector = $1 WHERE text = (SELECT text FROM vector LIMIT 1 OFFSET $2)";
        assert_eq!(db.execute(&update.replace("$1", vector), [n]).unwrap(), 1);
    };
    let not_a_number = format!("x'{}'", "0000c07f".repeat(DIMENSION));
    spoil(3, &not_a_number);
    spoil(4, "x'00000000'");
    spoil(5, "x'3f' || substr(vector, 2)");
    let (healed, contents) = into("second");
    assert_eq!(healed, (3, 357, 3));
    assert_eq!(contents, whole);
    assert_eq!(into("third").0, (0, 360, 0), "the entries were replaced");
    let cache = EmbeddingCache::for_encoder(&path, encoder.as_ref()).unwrap();
    assert!(cache.keep(&[(1, &[0.5, f32::NAN])]).unwrap_err().to_string().contains("not finite"));
}

#[test]
fn pruning_stays_below_its_roots() {
    let dir = tempfile::tempdir().unwrap();
    let spec = IndexSpec::new("sentence", "words");
    let mut shelf = Shelf::default();
    for name in ["docs/a.md", "docs/b.md", "docs2/c.md", "/abs/d.md"] {
        shelf.put(name, &[(name, &["Some text."])]);
    }
    pass(dir.path(), &spec, &shelf, &Options::default(), false);
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
    let met = ["docs/a.md".to_owned()].into();
    let gone = prune(&mut writer, &["docs".into()], &met, |_| false).unwrap();
    assert_eq!(gone, ["docs/b.md"]);
    writer.commit().unwrap();
    assert_eq!(writer.document_ids().unwrap(), ["/abs/d.md", "docs/a.md", "docs2/c.md"]);
    assert!(prune(&mut writer, &["docs2".into()], &met, |name| name == "docs2/c.md").unwrap().is_empty());
}
