//! Nights through the whole pipeline (cut, index, retrieve, score) on a slice of the shipped corpus that changes a
//! little every night, and what is planted in it afterwards.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pericope_api::{Document, Embeddings, EncodeError, Sentence, SentenceEncoder, Span};
use pericope_eval::config::{Configuration, Experiment};
use pericope_eval::data::{QuestionSet, SquadFile};
use pericope_eval::run::{self, Observer, Setup};
use pericope_nightly::{Check, History, Job, Lock, NightlyError, Outcome, Program, Verdict, run_on};
use pericope_report::HtmlPages;
use pericope_segment::counters::WordCounter;
use pericope_segment::{Limits, Standalone};

const CONFIG: &str = r#"
name = "slice"
[data]
kind = "squad"
path = "PATH"
[retrieval]
modes = ["dense", "bm25"]
k = [1, 3]
[[chunker]]
name = "fixed"
spec = "fixed:words=60"
[[chunker]]
name = "sentences"
spec = "sentence"
[answer]
generator = "none"
[judge]
kind = "none"
[nightly]
keep = 3
[[gate]]
metric = "span_recall"
k = 3
max_drop = 0.02
[[gate]]
metric = "iou"
k = 1
max_drop = 0.02
[[gate]]
metric = "precision_omega"
k = 1
max_drop = 0.02
"#;

/// Words as coordinates: each stem-like beginning of a word has a place in the vector. Fewer places mix up more words.
struct Hashed {
    dimension: usize,
}

impl SentenceEncoder for Hashed {
    fn name(&self) -> &str {
        "hashed"
    }

    fn fingerprint(&self) -> String {
        format!("hashed-{}", self.dimension)
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> usize {
        100_000
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = Vec::new();
        for text in texts {
            let mut row = vec![0.0_f32; self.dimension];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3) {
                let stem: String = word.chars().take(6).collect();
                let hash = stem.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
                row[(hash >> 3) as usize % self.dimension] += 1.0;
            }
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
            values.extend(row.iter().map(|x| x / norm));
        }
        Ok(Embeddings::new(self.dimension, values))
    }
}

struct Quiet;

impl Observer for Quiet {
    fn stage(&self, _: &str, _: usize) {}
    fn advance(&self, _: usize) {}
    fn note(&self, _: &str) {}
}

/// The corpus of a night: so many articles of the handbook, some of them edited.
struct Slice {
    articles: SquadFile,
    kept: usize,
}

impl Slice {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/handbook-questions.json");
        Self { articles: serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap(), kept: 9 }
    }

    /// A sentence is added to one article; every tenth night an article is added, with its questions.
    fn change(&mut self, night: usize) {
        let which = night * 7 % self.kept;
        let paragraph = self.articles.data[which].paragraphs.last_mut().unwrap();
        paragraph.context.push_str(&format!("\n\nA remark of night {night} closes this article for now."));
        if night.is_multiple_of(10) {
            self.kept += 1;
        }
    }

    fn write(&self, path: &Path) {
        let mut file = self.articles.clone();
        file.data.truncate(self.kept);
        fs::write(path, serde_json::to_string(&file).unwrap()).unwrap();
    }
}

struct Bed {
    dir: tempfile::TempDir,
    slice: Slice,
    config: String,
    dimension: usize,
    program: String,
}

impl Bed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config =
            CONFIG.replace("PATH", &dir.path().join("questions.json").display().to_string().replace('\\', "/"));
        Self { dir, slice: Slice::new(), config, dimension: 1024, program: "one".into() }
    }

    fn experiment(&self) -> Experiment {
        Experiment::parse(&self.config, Path::new("slice.toml"), &[], pericope_segment::registry::list()).unwrap()
    }

    fn history(&self) -> std::path::PathBuf {
        self.dir.path().join("history")
    }

    /// A night; `spoil` is done to what was read.
    fn night(&self, spoil: impl FnOnce(&mut QuestionSet)) -> Result<Outcome, NightlyError> {
        self.slice.write(&self.dir.path().join("questions.json"));
        let experiment = self.experiment();
        let mut set = run::load(&experiment, &Quiet).unwrap();
        spoil(&mut set);
        let resources = Standalone { defaults: Limits::INDEX };
        let setup = Setup {
            segmenters: pericope_segment::registry::list(),
            stores: &pericope_eval::run::Embedded,
            resources: &resources,
            encoder: Some(Arc::new(Hashed { dimension: self.dimension })),
            counter: Arc::new(WordCounter),
            models: pericope_eval::answer::Models::default(),
            rerankers: std::collections::BTreeMap::new(),
            model_checksums: [("hashed".into(), format!("hashed-{}", self.dimension))].into(),
            resume: false,
            trec: None,
        };
        let program = Program { version: "0.1.0".into(), sha256: self.program.clone() };
        run_on(
            Job {
                experiment: &experiment,
                lock: Lock::take(&self.history()).unwrap(),
                setup,
                program,
                pages: &HtmlPages,
                observer: &Quiet,
            },
            set,
        )
    }
}

fn broken(outcome: &Outcome) -> Vec<&Check> {
    outcome.conclusion.checks.iter().filter(|check| check.is_broken()).collect()
}

/// A splitter that ends a sentence after every third word.
fn split_anywhere(set: &mut QuestionSet) {
    for document in &mut set.documents {
        document.sentences = document.sentences.iter().flat_map(|sentence| pieces(document, sentence)).collect();
        document.check().unwrap();
    }
}

fn pieces(document: &Document, sentence: &Sentence) -> Vec<Sentence> {
    let text = document.text(sentence.span);
    let mut words: Vec<Span> = Vec::new();
    for word in text.split_whitespace() {
        let start = sentence.span.start + (word.as_ptr() as usize - text.as_ptr() as usize);
        words.push(Span::new(start, start + word.len()));
    }
    words.chunks(3).map(|three| Sentence { span: three[0].hull(&three[three.len() - 1]), ..*sentence }).collect()
}

#[test]
fn real_nights_raise_no_alarm_and_planted_regressions_do() {
    let mut bed = Bed::new();
    for night in 1..=30 {
        if night > 1 {
            bed.slice.change(night);
        }
        let outcome = bed.night(|_| ()).unwrap();
        assert_eq!(outcome.conclusion.night.number as usize, night);
        assert_eq!(outcome.conclusion.night.verdict, Verdict::Passed, "{:?}", broken(&outcome));
        if let Some(reference) = &outcome.conclusion.reference {
            assert!(!reference.changes.documents.is_empty(), "the edited document is listed");
            let added = night.is_multiple_of(10);
            assert_eq!(reference.changes.questions.added.is_empty(), !added, "night {night}");
            assert_eq!(reference.pairing.contains("added"), added, "{}", reference.pairing);
        }
    }
    let good = History::open(&bed.history(), "slice").unwrap().last_good(u32::MAX).unwrap().unwrap();

    // A broken sentence splitter.
    bed.program = "two".into();
    let outcome = bed.night(split_anywhere).unwrap();
    assert_eq!(outcome.conclusion.night.verdict, Verdict::Failed, "{}", outcome.conclusion.night.line);
    assert!(broken(&outcome).iter().any(|c| c.what.contains("of sentences at k")), "{:?}", broken(&outcome));
    assert!(broken(&outcome).iter().all(|c| !c.what.contains("of fixed")), "{:?}", broken(&outcome));
    let changes = outcome.conclusion.reference.as_ref().unwrap().changes.lines().join("\n");
    assert!(changes.contains("another build of pericope"), "{changes}");
    shown_side_by_side(&outcome);
    bed.program = "one".into();

    // A worse embedder: everything dense, and nothing else.
    bed.dimension = 4;
    let outcome = bed.night(|_| ()).unwrap();
    assert_eq!(outcome.conclusion.night.verdict, Verdict::Failed, "{}", outcome.conclusion.night.line);
    assert!(
        broken(&outcome).iter().all(|c| c.cell.as_ref().is_some_and(|cell| cell.mode == "dense")),
        "{:?}",
        broken(&outcome)
    );
    assert_eq!(outcome.conclusion.reference.as_ref().unwrap().number, good);
    let changes = outcome.conclusion.reference.as_ref().unwrap().changes.lines().join("\n");
    assert!(changes.contains("1\u{a0}model changed: hashed"), "{changes}");
    shown_side_by_side(&outcome);
    bed.dimension = 1024;

    // A chunk size doubled. More is found, since the answers are longer than the chunks were: what is lost is how well
    // the cuts fit the answers.
    let config = bed.config.clone();
    bed.config = config.replace("fixed:words=60", "fixed:words=120");
    let outcome = bed.night(|_| ()).unwrap();
    assert_eq!(outcome.conclusion.night.verdict, Verdict::Failed, "{}", outcome.conclusion.night.line);
    assert!(!broken(&outcome).is_empty());
    for check in broken(&outcome) {
        let cell = check.cell.as_ref().unwrap();
        assert_eq!((check.metric.name(), cell.chunker.as_str()), ("precision_omega", "fixed"), "{check:?}");
    }
    let changes = outcome.conclusion.reference.as_ref().unwrap().changes.lines().join("\n");
    assert!(changes.contains("words=120"), "{changes}");
    shown_side_by_side(&outcome);
    bed.config = config;

    // And back.
    let outcome = bed.night(|_| ()).unwrap();
    assert_eq!(outcome.conclusion.night.verdict, Verdict::Passed);
    // Three folders, and the last good night's; the history has all nights.
    let folders = fs::read_dir(bed.history().join("nights")).unwrap().count();
    assert_eq!((folders, History::open(&bed.history(), "slice").unwrap().heads().unwrap().len()), (3, 34));
}

/// The questions that lost are on the page with what both nights retrieved for them.
fn shown_side_by_side(outcome: &Outcome) {
    let group = outcome.conclusion.flips.first().expect("questions are shown");
    let page = fs::read_to_string(&outcome.written.page).unwrap();
    let mut sides = 0;
    for flip in &group.questions {
        assert!(flip.before > flip.tonight, "{flip:?}");
        let (before, tonight) = (flip.side_before.as_ref().unwrap(), flip.side_tonight.as_ref().unwrap());
        let found =
            |side: &pericope_nightly::compare::DiffSide| side.retrieved.iter().map(|r| r.gold_share).sum::<f64>();
        if group.metric.key() == "span_recall" {
            assert!(found(before) > found(tonight), "{}", flip.question);
        }
        assert!(page.contains(&flip.question.replace('\'', "&#39;")), "{}", flip.question);
        sides += usize::from(!before.retrieved.is_empty()) + usize::from(!tonight.retrieved.is_empty());
    }
    assert!(sides > group.questions.len());
}

#[test]
fn a_night_that_breaks_off_leaves_nothing_half_and_is_taken_up() {
    let mut bed = Bed::new();
    bed.night(|_| ()).unwrap();
    // Breaks off in the middle: the second chunker of the configuration cannot cut.
    struct Stops(std::sync::atomic::AtomicUsize);
    impl Observer for Stops {
        fn stage(&self, what: &str, _: usize) {
            if what.starts_with("sentences: indexing") {
                self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                panic!("the power fails");
            }
        }
        fn advance(&self, _: usize) {}
        fn note(&self, _: &str) {}
    }
    let stops = Stops(0.into());
    let experiment = bed.experiment();
    let dir = bed.history();
    let resources = Standalone { defaults: Limits::INDEX };
    let setup = || Setup {
        segmenters: pericope_segment::registry::list(),
        stores: &pericope_eval::run::Embedded,
        resources: &resources,
        encoder: Some(Arc::new(Hashed { dimension: 1024 })),
        counter: Arc::new(WordCounter),
        models: pericope_eval::answer::Models::default(),
        rerankers: std::collections::BTreeMap::new(),
        model_checksums: [("hashed".into(), "hashed-1024".to_owned())].into(),
        resume: false,
        trec: None,
    };
    let program = Program { version: "0.1.0".into(), sha256: "one".into() };
    let broke = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pericope_nightly::run(Job {
            pages: &HtmlPages,
            experiment: &experiment,
            lock: Lock::take(&dir).unwrap(),
            setup: setup(),
            program: program.clone(),
            observer: &stops,
        })
    }));
    assert!(broke.is_err() && stops.0.load(std::sync::atomic::Ordering::Relaxed) == 1);
    assert_eq!(History::open(&dir, "slice").unwrap().heads().unwrap().len(), 1, "nothing of it is in the history");
    let chunkers = fs::read_to_string(dir.join("nights/000002/chunkers.jsonl")).unwrap();
    assert_eq!(chunkers.lines().count(), 1, "the first chunker was done");

    struct Notes(std::sync::Mutex<Vec<String>>);
    impl Observer for Notes {
        fn stage(&self, _: &str, _: usize) {}
        fn advance(&self, _: usize) {}
        fn note(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }
    let notes = Notes(Vec::new().into());
    let job = Job {
        experiment: &experiment,
        lock: Lock::take(&dir).unwrap(),
        setup: setup(),
        program: program.clone(),
        pages: &HtmlPages,
        observer: &notes,
    };
    let outcome = pericope_nightly::run(job).unwrap();
    assert!(notes.0.lock().unwrap().iter().any(|note| note.contains("1 chunker is done already")));
    assert_eq!((outcome.conclusion.night.number, outcome.conclusion.night.verdict), (2, Verdict::Passed));
    assert!(outcome.conclusion.night.line.contains("no score changed"), "{}", outcome.conclusion.night.line);

    // What another program, or other documents, left behind is not mixed in.
    for changed in ["program", "documents"] {
        let number = outcome.conclusion.night.number + if changed == "program" { 1 } else { 2 };
        let folder = dir.join(format!("nights/{number:06}"));
        fs::create_dir_all(&folder).unwrap();
        for file in ["run.json", "chunkers.jsonl", "items.jsonl", "program.json"] {
            fs::copy(dir.join("nights/000002").join(file), folder.join(file)).unwrap();
        }
        if changed == "program" {
            bed.program = "two".into();
        } else {
            bed.slice.change(1);
        }
        let outcome = bed.night(|_| ()).unwrap();
        assert_eq!(outcome.conclusion.night.number, number);
        let record = fs::read_to_string(folder.join("run.json")).unwrap();
        let before = fs::read_to_string(dir.join("nights/000002/run.json")).unwrap();
        assert_ne!(record, before, "run anew");
        let lines = outcome.conclusion.reference.as_ref().unwrap().changes.lines().join("\n");
        assert!(lines.contains(if changed == "program" { "another build" } else { "document changed" }), "{lines}");
    }
}

#[test]
fn the_same_night_again_is_one_more_night() {
    let bed = Bed::new();
    let first = bed.night(|_| ()).unwrap();
    let again = bed.night(|_| ()).unwrap();
    assert_eq!((first.conclusion.night.number, again.conclusion.night.number), (1, 2));
    assert!(again.conclusion.losses.is_empty() && again.conclusion.gains.is_empty());
    assert!(again.conclusion.reference.as_ref().unwrap().changes.is_empty());
    assert_ne!(first.conclusion.night.uid, again.conclusion.night.uid);
}
