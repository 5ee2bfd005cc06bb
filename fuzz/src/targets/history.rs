//! Nightly histories: exported lines, and files that were damaged.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use pericope_eval::cell::{CellKey, Cutoff};
use pericope_eval::metric::Metric;
use pericope_nightly::gather::uid;
use pericope_nightly::{Asked, History, NightlyCell, NightlyRun};

use super::folder;
use super::parts::{damaged, damages};

pub(super) const WORDS: &[&str] = &[
    "{\"format\":\"pericope-nightly\",\"version\":1,\"experiment\":\"fuzz\",\"pinned\":1}\n",
    "\"number\":",
    "\"uid\":",
    "4294967295",
    "\"scores\":",
    "\"cells\":",
    "\"questions\":",
    "\"span_recall\":[",
    "null",
    "1e400",
    "\"verdict\":",
    "\"failed\"",
    "\"config\":",
    "\"timings\":",
    "\n",
    "-1",
    "0",
];
const NAME: &str = "fuzz";
const FILE: &str = "history.db";

fn night(number: u32) -> NightlyRun {
    let asked = |i: u32| Asked {
        id: format!("q{i}"),
        text: format!("what is {i}?"),
        document: "d".into(),
        sum: format!("{i:032x}"),
    };
    let scores = (0..6).map(|i| Some(f64::from(i * number % 5) / 4.0)).collect();
    let cell = NightlyCell {
        key: CellKey { chunker: "fixed".into(), mode: "bm25".into(), cutoff: Cutoff::K(3) },
        context_tokens: 100.0,
        failed: 0,
        scores: [(Metric::SPAN_RECALL, scores)].into(),
    };
    let mut night = NightlyRun {
        number,
        experiment: NAME.into(),
        started: format!("2026-01-{number:02}T00:00:00Z"),
        finished: format!("2026-01-{number:02}T00:01:00Z"),
        seconds: 60.0,
        line: "as before".into(),
        documents: [("d".into(), "1".to_owned())].into(),
        questions: (0..6).map(asked).collect(),
        cells: vec![cell],
        items: 6,
        ..NightlyRun::default()
    };
    night.uid = uid(&night);
    night
}

/// The bytes of a history of three nights.
fn whole() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut history = History::open(folder.path(), NAME).expect("a new history");
        (1..=3).for_each(|number| history.append(&night(number)).expect("a new night"));
        drop(history);
        fs::read(folder.path().join(FILE)).expect("it was written")
    })
}

/// Imports lines into a new history; what was taken over can be read and written out again.
pub(super) fn import(data: &[u8]) {
    folder::with_empty(|folder| {
        let file = folder.join("nights.jsonl");
        fs::write(&file, data).expect("a temporary file");
        let mut history = History::open(&folder.join("history"), NAME).expect("a new history");
        match history.import(&file) {
            Ok(done) => {
                let heads = history.heads().expect("what was imported can be listed");
                assert_eq!(heads.len(), done.added, "every night that was added is there");
                for head in &heads {
                    let _ = history.night(head.number);
                }
                let next = history.next_number().expect("there is a next number or an error in words");
                assert!(heads.iter().all(|head| head.number < next), "the next night is {next}");
                use_all(&history);
                let again = folder.join("again.jsonl");
                history.export(&again).expect("what was imported can be exported");
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(history.heads().expect("it is as it was").is_empty(), "all nights or none");
            }
        }
    });
}

/// Opens a history that was damaged; what can still be read has no score that nobody gave.
pub(super) fn open(data: &[u8]) {
    let mut bytes = whole().to_vec();
    for damage in damages(data) {
        match damaged(std::mem::take(&mut bytes), &damage) {
            Some(left) => bytes = left,
            None => break,
        }
    }
    folder::with_empty(|folder| {
        fs::write(folder.join(FILE), &bytes).expect("a temporary file");
        opened(folder);
    });
}

fn opened(folder: &Path) {
    let Ok(mut history) = History::open(folder, NAME) else { return };
    let _ = history.probe();
    use_all(&history);
    let _ = history.export(&folder.join("out.jsonl"));
    if let Ok(next) = history.next_number()
        && next < 100
    {
        let _ = history.append(&night(next));
    }
}

fn use_all(history: &History) {
    let Ok(heads) = history.heads() else { return };
    for head in heads {
        if let Ok(night) = history.night(head.number) {
            for cell in &night.cells {
                assert!(cell.scores.values().flatten().flatten().all(|score| score.is_finite()));
            }
        }
    }
    let _ = (history.pinned(), history.last_good(u32::MAX), history.series(&Metric::SPAN_RECALL, 9));
    let _ = (history.times("seconds", 9), history.good_times(u32::MAX, 9), history.id());
}
