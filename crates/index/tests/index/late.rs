//! Documents that take too long: they cost themselves alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pericope_api::{Chunk, Document, SegmentError};
use pericope_index::pipeline::{Failure, Metadata, Options, Report, Source, run};
use pericope_index::{IndexSpec, IndexWriter};
use pericope_testkit::documents::{made_up, sentence_chunks};

/// Holds whoever comes, until it is opened.
#[derive(Default)]
struct Barrier {
    open: Mutex<bool>,
    changed: Condvar,
    held: AtomicUsize,
    /// Documents that are written.
    written: AtomicUsize,
}

impl Barrier {
    fn hold(&self) {
        self.held.fetch_add(1, Ordering::SeqCst);
        let open = self.open.lock().unwrap();
        drop(self.changed.wait_while(open, |open| !*open).unwrap());
    }
}

/// Opened at the end of a test, so that no thread outlives it for long.
struct Held(Arc<Barrier>);

impl Held {
    fn new() -> Self {
        Self(Arc::default())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.open.lock().unwrap() = true;
        self.0.changed.notify_all();
    }
}

/// Made-up documents; where a name says so, reading it does not end.
struct Pages {
    barrier: Arc<Barrier>,
    /// Documents begun, whatever became of them.
    begun: Arc<AtomicUsize>,
}

impl Source for Pages {
    type Item = String;

    fn about(&self, name: &String) -> Metadata {
        Metadata { name: Some(name.clone()), bytes: 400, ..Metadata::default() }
    }

    fn hash(&self, name: &String) -> Option<u128> {
        Some(Chunk::content_hash(name))
    }

    fn read(&self, name: &mut String, each: &mut dyn FnMut(Result<Document, Failure>)) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        if name.contains("unread") {
            self.barrier.hold();
        }
        each(Ok(made_up(name, name.len() as u64, 6)));
    }
}

fn index(names: &[String], options: &Options, held: &Held, begun: &Arc<AtomicUsize>) -> (Report, u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &IndexSpec::new("sentence", "words")).unwrap();
    let source = Pages { barrier: Arc::clone(&held.0), begun: Arc::clone(begun) };
    let barrier = Arc::clone(&held.0);
    let chunk = move |document: &Document| -> Result<Vec<Chunk>, SegmentError> {
        if document.id.contains("uncut") {
            barrier.hold();
        }
        Ok(sentence_chunks(document))
    };
    let report = run(&mut writer, source, names.iter().cloned(), chunk, options, |progress| {
        held.0.written.store(usize::try_from(progress.documents).unwrap(), Ordering::SeqCst);
    })
    .unwrap();
    (report, writer.finish().unwrap().documents)
}

fn names(count: usize, late: &[(usize, &str)]) -> Vec<String> {
    let name = |i| late.iter().find(|(at, _)| *at == i).map_or("good", |(_, name)| name);
    (0..count).map(|i| format!("{i:03}-{}.md", name(i))).collect()
}

#[test]
fn a_document_that_takes_too_long_costs_itself_alone() {
    let names = names(60, &[(3, "unread"), (17, "uncut"), (18, "unread"), (40, "uncut"), (59, "unread")]);
    for threads in [1, 2, 5] {
        let held = Held::new();
        let options = Options { threads, time: Duration::from_millis(300), ..Options::default() };
        let (report, documents) = index(&names, &options, &held, &Arc::default());
        let failed: Vec<&str> = report.failures.iter().map(|f| &f.document[..3]).collect();
        assert_eq!(failed, ["003", "017", "018", "040", "059"], "{threads}: {:?}", report.failures);
        assert!(report.failures[0].reason == "reading it took longer than 0.3 s", "{:?}", report.failures[0]);
        assert!(report.failures[1].reason == "cutting it took longer than 0.3 s", "{:?}", report.failures[1]);
        assert_eq!((report.progress.sources, report.met.len(), report.failed.len()), (60, 60, 5));
        assert_eq!((documents, report.interrupted), (55, false));
    }
}

#[test]
fn too_many_that_take_too_long_are_the_end_of_reading() {
    let late: Vec<(usize, &str)> = (0..20).map(|i| (i, "unread")).collect();
    let (held, begun) = (Held::new(), Arc::default());
    let options = Options { threads: 2, time: Duration::from_millis(50), ..Options::default() };
    let (report, documents) = index(&names(60, &late), &options, &held, &begun);
    assert_eq!((report.progress.sources, report.failures.len(), documents), (60, 60, 0));
    let left_behind = held.0.held.load(Ordering::SeqCst);
    // The two threads may each have begun one more before the limit was reached.
    assert!((16..=17).contains(&left_behind), "{left_behind}");
    assert_eq!(begun.load(Ordering::SeqCst), left_behind, "nothing more was begun");
    let last = report.failures.last().unwrap();
    assert!(last.document == "059-good.md" && last.reason.starts_with("not read: 16 documents"), "{last:?}");
}

#[test]
fn a_run_ends_when_it_is_told_to_even_in_the_middle_of_a_document() {
    for late in ["unread", "uncut"] {
        let held = Held::new();
        // No limit of time: nothing but the word ends it.
        let options = Options { threads: 1, ..Options::default() };
        let (stop, barrier) = (Arc::clone(&options.stop), Arc::clone(&held.0));
        let told = std::thread::spawn(move || {
            // Those before it are complete when they are written, which a busy machine does later.
            while barrier.held.load(Ordering::SeqCst) == 0 || barrier.written.load(Ordering::SeqCst) < 20 {
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::SeqCst);
        });
        let (report, documents) = index(&names(30, &[(20, late)]), &options, &held, &Arc::default());
        told.join().unwrap();
        assert!(report.interrupted && report.failures.is_empty(), "{late}: {report:?}");
        // What was complete is there.
        assert_eq!(documents, 20, "{late}");
    }
}

/// Small sources with large documents.
struct Packed {
    written: Arc<AtomicUsize>,
    read: AtomicUsize,
    ahead: Arc<AtomicUsize>,
}

impl Source for Packed {
    type Item = String;

    fn about(&self, name: &String) -> Metadata {
        Metadata { name: Some(name.clone()), bytes: 10, ..Metadata::default() }
    }

    fn hash(&self, _: &String) -> Option<u128> {
        None
    }

    fn read(&self, name: &mut String, each: &mut dyn FnMut(Result<Document, Failure>)) {
        let read = self.read.fetch_add(1, Ordering::SeqCst) + 1;
        self.ahead.fetch_max(read - self.written.load(Ordering::SeqCst), Ordering::SeqCst);
        each(Ok(made_up(name, 1, 2_000)));
    }
}

#[test]
fn text_that_was_packed_is_counted_when_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &IndexSpec::new("sentence", "words")).unwrap();
    let (written, ahead): (Arc<AtomicUsize>, Arc<AtomicUsize>) = Default::default();
    let source = Packed { written: Arc::clone(&written), read: AtomicUsize::new(0), ahead: Arc::clone(&ahead) };
    // By the size of the sources all of them would fit; by that of their documents one does.
    let options = Options { threads: 4, memory: 600_000, ..Options::default() };
    let names: Vec<String> = (0..60).map(|i| format!("{i:02}.md")).collect();
    let report = run(
        &mut writer,
        source,
        names,
        |d| Ok(sentence_chunks(d)),
        &options,
        |progress| {
            written.store(progress.sources as usize, Ordering::SeqCst);
        },
    );
    let report = report.unwrap();
    assert_eq!((report.progress.documents, report.failures.len()), (60, 0));
    let ahead = ahead.load(Ordering::SeqCst);
    assert!(ahead <= 12, "{ahead} were read ahead");
}
