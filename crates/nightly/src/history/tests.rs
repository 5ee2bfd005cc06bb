#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

use super::schema::{VERSION, downgrade};
use super::{FILE, History, HistoryError};
use crate::gather::uid;
use crate::night::{Asked, NightlyCell, NightlyRun, Timing, Verdict};
use pericope_eval::cell::{CellKey, Cutoff};
use pericope_eval::config::Baseline;
use pericope_eval::metric::Metric;
use pericope_eval::record::{ChunkerRow, QueryTimes};

fn night(number: u32, shift: f64) -> NightlyRun {
    let asked = |i: usize| Asked { id: format!("q{i}"), text: "?".into(), document: "d".into(), sum: i.to_string() };
    let scores: Vec<Option<f64>> =
        (0..50).map(|i| if i == 7 { None } else { Some(f64::from(i) / 60.0 + shift) }).collect();
    let cell = |k: usize| NightlyCell {
        key: CellKey { chunker: "fixed".into(), mode: "dense".into(), cutoff: Cutoff::K(k) },
        context_tokens: 120.5,
        failed: k,
        scores: [
            ("span_recall".into(), scores.clone()),
            (Metric::named(&format!("own_{k}")), vec![Some(0.1 + 0.2); 50]),
        ]
        .into(),
    };
    let row = ChunkerRow {
        name: "fixed".into(),
        spec: "fixed:words=100".into(),
        segment_seconds: 1.25,
        index_seconds: 2.5,
        query_times: [("dense".into(), QueryTimes { p50_ms: Some(3.5), p95_ms: None })].into(),
        ..ChunkerRow::default()
    };
    let time = |what: &str, chunker: &str, mode: &str, value: f64| Timing {
        chunker: chunker.into(),
        mode: mode.into(),
        what: what.into(),
        value,
    };
    let mut night = NightlyRun {
        number,
        experiment: "x".into(),
        started: format!("2026-01-{number:02}T00:00:00Z"),
        finished: format!("2026-01-{number:02}T00:01:00Z"),
        seconds: 60.0,
        verdict: Verdict::Passed,
        line: "night".into(),
        reference: number.checked_sub(1).filter(|n| *n > 0),
        program: crate::night::Program { version: "0.1.0".into(), sha256: "ab".into() },
        config: serde_json::json!({"name": "x", "k": [1, 3]}),
        documents: [("d".into(), "1".to_owned())].into(),
        questions: (0..50).map(asked).collect(),
        chunkers: vec![row],
        cells: vec![cell(3), cell(1)],
        timings: vec![
            time("seconds", "", "", 60.0),
            time("index_seconds", "fixed", "", 2.5),
            time("query_p50_ms", "fixed", "dense", 3.5),
            time("segment_seconds", "fixed", "", 1.25),
        ],
        failed: 4,
        items: 100,
        left_out: Some(3),
        ..NightlyRun::default()
    };
    night.uid = uid(&night);
    night
}

/// Scores to twelve decimals, where comparisons call them the same.
fn rounded(mut night: NightlyRun) -> NightlyRun {
    let scores = night.cells.iter_mut().flat_map(|cell| cell.scores.values_mut()).flatten().flatten();
    scores.for_each(|x| *x = (*x * 1e12).round() / 1e12);
    night
}

fn filled(dir: &Path, nights: u32) -> History {
    let mut history = History::open(dir, "x").unwrap();
    for number in 1..=nights {
        history.append(&night(number, f64::from(number % 3) / 1000.0)).unwrap();
    }
    history
}

#[test]
fn a_night_comes_back_as_it_went_in() {
    let dir = tempfile::tempdir().unwrap();
    let history = filled(dir.path(), 3);
    for number in 1..=3 {
        assert_eq!(history.night(number).unwrap(), night(number, f64::from(number % 3) / 1000.0));
    }
    assert_eq!(history.next_number().unwrap(), 4);
    assert!(matches!(history.night(4), Err(HistoryError::Missing { number: 4, .. })));
    let series = history.series(&Metric::SPAN_RECALL, 2).unwrap();
    let points = series.values().next().unwrap();
    assert_eq!((series.len(), points.len(), points[0].0), (2, 2, 1));
    assert!((points[0].1 - night(1, 0.001).cells[0].mean(&Metric::SPAN_RECALL).unwrap()).abs() < 1e-12);
    assert_eq!(history.times("segment_seconds", 9).unwrap()[&("fixed".into(), String::new())].len(), 3);
}

#[test]
fn nights_that_are_alike_cost_little() {
    let dir = tempfile::tempdir().unwrap();
    let size = |nights: u32| {
        let dir = tempfile::tempdir().unwrap();
        let history = filled(dir.path(), nights);
        fs::metadata(history.path()).unwrap().len()
    };
    let (few, many) = (size(6), size(66));
    assert!(many - few < 60 * 2_500, "{} bytes a night", (many - few) / 60);
    drop(dir);
}

#[test]
fn a_night_is_there_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = filled(dir.path(), 2);
    // The second cell of the same name is refused when much of the night is written already.
    let mut broken = night(3, 0.5);
    broken.cells.push(broken.cells[0].clone());
    let problem = history.append(&broken).unwrap_err().to_string();
    assert!(problem.contains("cannot add the night to the history"), "{problem}");
    assert!(!history.has(3).unwrap());
    for table in ["night_cell", "score", "timing"] {
        let column = if table == "night" { "number" } else { "night" };
        let rows: i64 = history
            .reading(|db| db.query_row(&format!("SELECT count(*) FROM {table} WHERE {column} = 3"), [], |r| r.get(0)))
            .unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    history.append(&night(3, 0.5)).unwrap();
    assert!(matches!(history.append(&night(3, 0.5)), Err(HistoryError::Taken { number: 3, .. })));
}

#[test]
fn a_full_disk_loses_nothing_and_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = filled(dir.path(), 2);
    let pages: i64 = history.reading(|db| db.query_row("PRAGMA page_count", [], |r| r.get(0))).unwrap();
    history.db.pragma_update(None, "max_page_count", pages).unwrap();
    let mut large = night(3, 0.0);
    large.line = "x".repeat(200_000);
    let problem = history.append(&large).unwrap_err().to_string();
    assert!(problem.contains("full") && problem.contains("make room and run the same command again"), "{problem}");
    drop(history);
    let mut history = History::open(dir.path(), "x").unwrap();
    assert_eq!(history.heads().unwrap().len(), 2);
    history.append(&large).unwrap();
    assert_eq!(history.heads().unwrap().len(), 3);
}

#[test]
fn an_older_file_is_brought_up_to_date_and_kept_beside() {
    let (new, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(filled(new.path(), 3));
    downgrade(&new.path().join(FILE), &old.path().join(FILE)).unwrap();
    let mut history = History::open(old.path(), "x").unwrap();
    let version: i64 = history.reading(|db| db.query_row("PRAGMA user_version", [], |r| r.get(0))).unwrap();
    assert_eq!(version, VERSION);
    for number in 1..=3 {
        let mut expected = night(number, f64::from(number % 3) / 1000.0);
        // The first schema knew of the program the version alone, and nothing of what was left out.
        expected.program.sha256.clear();
        expected.left_out = None;
        assert_eq!(history.night(number).unwrap(), expected, "times were taken out of the chunkers' rows");
    }
    history.append(&night(4, 0.0)).unwrap();
    let copy = old.path().join("history.v1.db");
    assert!(copy.is_file(), "the file as it was");
    drop(history);
    assert_eq!(History::open(old.path(), "x").unwrap().heads().unwrap().len(), 4);
}

#[test]
fn what_is_no_history_of_ours_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let open = || History::open(dir.path(), "x").unwrap_err();
    fs::write(&path, "garbage, longer than a header of SQLite would be. ".repeat(40)).unwrap();
    assert!(matches!(open(), HistoryError::Foreign { .. }), "{}", open());
    assert!(fs::read_to_string(&path).unwrap().starts_with("garbage"));
    fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE people(name TEXT); PRAGMA user_version = 1").unwrap();
    assert!(matches!(open(), HistoryError::Foreign { .. }));
    other.execute_batch("PRAGMA user_version = 0").unwrap();
    assert!(matches!(open(), HistoryError::Foreign { .. }));
    drop(other);
    fs::remove_file(&path).unwrap();
    let history = filled(dir.path(), 1);
    assert!(matches!(History::open(dir.path(), "y"), Err(HistoryError::OtherExperiment { .. })));
    history.db.pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(history);
    assert!(open().to_string().contains("written by a newer pericope"));
    // A file where the folder should be.
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(matches!(History::open(&dir.path().join("file/below"), "x"), Err(HistoryError::Io { .. })));
}

#[test]
fn pins_and_acceptance() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::open(dir.path(), "x").unwrap();
    assert_eq!(history.baseline(Some(Baseline::Run(3))).unwrap(), None, "an empty history has no wrong baseline");
    for number in 1..=4 {
        let verdict = if number % 2 == 1 { Verdict::Failed } else { Verdict::Passed };
        history.append(&NightlyRun { verdict, ..night(number, 0.0) }).unwrap();
    }
    assert_eq!((history.last_good(4).unwrap(), history.last_good(2).unwrap()), (Some(2), None));
    assert_eq!(history.baseline(Some(Baseline::First)).unwrap(), Some(2));
    assert!(history.baseline(Some(Baseline::Run(9))).is_err() && history.pin(Some(9)).is_err());
    history.pin(Some(3)).unwrap();
    assert_eq!(history.baseline(Some(Baseline::First)).unwrap(), Some(3), "by hand goes before the configuration");
    history.pin(None).unwrap();
    history.accept(1).unwrap();
    assert_eq!((history.last_good(2).unwrap(), history.baseline(Some(Baseline::First)).unwrap()), (Some(1), Some(1)));
    history.accept(2).unwrap();
    assert_eq!(history.night(2).unwrap().verdict, Verdict::Passed, "what passed needs no acceptance");
    assert!(history.accept(9).is_err());
}

#[test]
fn a_history_travels_as_lines() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = from.path().join("nights.jsonl");
    let mut history = filled(from.path(), 3);
    history.pin(Some(2)).unwrap();
    assert_eq!(history.export(&file).unwrap(), 3);
    let mut copy = History::open(to.path(), "x").unwrap();
    let first = copy.import(&file).unwrap();
    assert_eq!((first.added, first.known), (3, 0));
    let again = copy.import(&file).unwrap();
    assert_eq!((again.added, again.known), (0, 3));
    for number in 1..=3 {
        assert!(rounded(copy.night(number).unwrap()) == rounded(history.night(number).unwrap()), "night {number}");
    }
    assert_eq!(copy.pinned().unwrap(), Some(2));

    // All or nothing: a damaged line at the end takes the good ones with it.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}{{\"number\": 4")).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let mut copy = History::open(empty.path(), "x").unwrap();
    let problem = copy.import(&file).unwrap_err().to_string();
    assert!(problem.contains("line 5"), "{problem}");
    assert!(copy.heads().unwrap().is_empty());
    // Another night under a number that is taken.
    copy.append(&night(1, 0.9)).unwrap();
    fs::write(&file, &text).unwrap();
    assert!(matches!(copy.import(&file), Err(HistoryError::Taken { number: 1, .. })));
    // Another experiment, and no export at all.
    let mut other = History::open(&empty.path().join("other"), "y").unwrap();
    assert!(matches!(other.import(&file), Err(HistoryError::OtherExperiment { .. })));
    fs::write(&file, "{}\n").unwrap();
    assert!(copy.import(&file).unwrap_err().to_string().contains("no exported history"));
}

#[test]
fn numbers_end_before_they_wrap() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nights.jsonl");
    let header = "{\"format\":\"pericope-nightly\",\"version\":1,\"experiment\":\"x\"}";
    let line = |night: &NightlyRun| serde_json::to_string(night).unwrap();
    let good = line(&night(1, 0.0));
    let numbered = |number: u32| {
        let mut one = night(2, 0.1);
        one.number = number;
        line(&one)
    };
    for (bad, says) in [
        (numbered(u32::MAX), "line 3: night 4294967295: nights are numbered from 1 to"),
        (numbered(0), "line 3: night 0"),
        (numbered(9).replace("\"number\":9", "\"number\":4294967296"), "line 3: "),
        (numbered(9).replace("\"k\":3", "\"k\":0"), "line 3: one of k and token_budget must be a number from 1"),
        (numbered(9).replace("\"k\":1,", "\"k\":3,"), "line 3: it holds something twice"),
        (line(&NightlyRun { questions: Vec::new(), ..night(2, 0.1) }), "line 3: night 2 has 50 scores of"),
    ] {
        fs::write(&file, format!("{header}\n{good}\n{bad}\n")).unwrap();
        let empty = tempfile::tempdir().unwrap();
        let mut history = History::open(empty.path(), "x").unwrap();
        let problem = history.import(&file).unwrap_err();
        assert!(problem.is_usage() && problem.to_string().contains(says), "{problem} does not say {says}");
        assert!(history.heads().unwrap().is_empty(), "all or nothing");
    }
    // The same number twice in one file.
    fs::write(&file, format!("{header}\n{good}\n{}\n", line(&night(1, 0.5)))).unwrap();
    let mut history = History::open(dir.path(), "x").unwrap();
    assert!(matches!(history.import(&file), Err(HistoryError::Taken { number: 1, .. })));
    // A file of an older program may hold the last number.
    let mut last = night(1, 0.0);
    last.number = u32::MAX;
    history.append(&last).unwrap();
    assert!(matches!(history.next_number(), Err(HistoryError::Exhausted { number: u32::MAX, .. })));
    assert_eq!(history.last_number().unwrap(), Some(u32::MAX));
}

#[test]
fn flipped_bytes_are_noticed_and_the_night_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = filled(dir.path(), 4).path().to_owned();
    let sound = fs::read(&path).unwrap();
    let read = || -> Result<Vec<NightlyRun>, HistoryError> {
        let history = History::open(dir.path(), "x")?;
        history.heads()?.into_iter().map(|head| history.night(head.number)).collect()
    };
    let nights = read().unwrap();
    let (mut named, mut structure, mut other) = (0, 0, Vec::new());
    for at in (0..sound.len()).step_by(512) {
        let mut bytes = sound.clone();
        bytes.iter_mut().skip(at).take(64).for_each(|byte| *byte ^= 0xff);
        fs::write(&path, &bytes).unwrap();
        match read() {
            Err(HistoryError::Damaged { problem, .. }) => {
                assert!(!problem.is_empty());
                named += 1;
            }
            Err(_) => structure += 1,
            // Pages that nothing uses.
            Ok(found) if found == nights => {}
            Ok(_) => other.push(at),
        }
    }
    fs::write(&path, &sound).unwrap();
    assert_eq!(read().unwrap(), nights);
    assert!(named > 0 && structure > 0, "{named} named, {structure} in the structure");
    // What is told apart by no checksum is small: the rows of nights, cells and times.
    assert!(other.len() * 512 < sound.len() / 8, "{named} named, {structure} in the structure, unseen {other:?}");
}

#[test]
fn a_lost_file_beside_nights_is_no_new_history() {
    let dir = tempfile::tempdir().unwrap();
    let path = filled(dir.path(), 2).path().to_owned();
    fs::write(&path, "").unwrap();
    // Nothing says that there ever were nights: a first run may have been killed here.
    assert!(History::open(dir.path(), "x").is_ok());
    fs::write(&path, "").unwrap();
    fs::create_dir_all(dir.path().join("nights/000002")).unwrap();
    let problem = History::open(dir.path(), "x").unwrap_err();
    assert!(!problem.is_usage() && problem.to_string().contains("is damaged (it is empty"), "{problem}");
    assert_eq!(fs::metadata(&path).unwrap().len(), 0, "it is left as it is");
    fs::remove_file(&path).unwrap();
    let problem = History::open(dir.path(), "x").unwrap_err();
    assert!(!problem.is_usage() && problem.to_string().contains("is damaged (it is gone"), "{problem}");
    assert!(!path.exists(), "no other one is begun");
}

#[test]
fn damaged_content_names_its_night() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = filled(dir.path(), 2);
    let mut third = night(3, 0.7);
    third.documents = [("e".into(), "9".to_owned())].into();
    history.append(&third).unwrap();
    let spoil = |history: &History, column: &str| {
        let sql = format!(
            "UPDATE content SET data = CAST(replace(data, 'e', 'f') AS BLOB) WHERE id = (SELECT {column} FROM night WHERE number = 3)"
        );
        history.reading(|db| db.execute(&sql, [])).unwrap();
    };
    spoil(&history, "documents");
    let problem = history.night(3).unwrap_err().to_string();
    assert!(problem.contains("night 3 is damaged (documents: its checksum is another)"), "{problem}");
    assert!(problem.contains("restore a copy") && history.night(2).is_ok(), "{problem}");
    history.reading(|db| db.execute("UPDATE score SET mean = mean + 0.25 WHERE night = 2", [])).unwrap();
    let problem = history.night(2).unwrap_err().to_string();
    assert!(problem.contains("night 2 is damaged (scores of ") && problem.contains("mean is another"), "{problem}");
    assert!(history.night(1).is_ok());
}

#[test]
fn the_copy_of_an_older_file_is_whole() {
    let (new, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(filled(new.path(), 2));
    let path = old.path().join(FILE);
    downgrade(&new.path().join(FILE), &path).unwrap();
    let before = fs::read(&path).unwrap();
    // What a program that was killed in the middle of copying left.
    fs::write(old.path().join("history.v1.db"), &before[..before.len() / 2]).unwrap();
    fs::write(old.path().join("history.v1-2.db.abcdef.unfinished"), "half").unwrap();
    drop(History::open(old.path(), "x").unwrap());
    assert!(fs::read(old.path().join("history.v1-2.db")).unwrap() == before, "the file as it was");
    let mut names: Vec<_> = fs::read_dir(old.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["history.db", "history.v1-2.db", "history.v1.db"]);
}
