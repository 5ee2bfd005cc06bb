//! The report of a run that is made while the run goes on.

use std::fs;

use pericope_eval::record::Item;
use pericope_eval::run::ItemSink;
use pericope_report::run::{Collector, Report, ReportError, write};

#[test]
fn after_the_run_only_the_lines_that_are_shown_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (summary, run, items) = crate::support::run(30);
    crate::report::save(&dir, &summary, &run, &items);
    let loaded = Report::load(&dir).unwrap();
    let path = dir.join("items.jsonl");
    let text = fs::read_to_string(&path).unwrap();

    // A run hands each item over once.
    let mut collector = Collector::default();
    let (mut offset, mut garbled) = (0, String::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        let item: Item = serde_json::from_str(line).unwrap();
        collector.take(&item, offset);
        offset += line.len() as u64 + 1;
        let shown = loaded.contrasts.iter().any(|c| c.question_id == item.question_id);
        let shown = shown && item.cutoff == pericope_eval::cell::Cutoff::K(3);
        garbled.push_str(&if shown { line.to_owned() } else { "?".repeat(line.len()) });
        garbled.push('\n');
    }
    assert!(garbled.matches('?').count() > text.len() / 2, "most lines are not shown");
    // Nothing that is read again but the lines shown in full: all others are gone.
    fs::write(&path, garbled).unwrap();
    let report = collector.finish(&dir, summary.clone(), run.clone()).unwrap();
    assert_eq!(report.contrasts, loaded.contrasts);
    assert_eq!((&report.failures, &report.items), (&loaded.failures, &loaded.items));

    // Writing reads nothing at all.
    fs::remove_file(&path).unwrap();
    let files = |name: &str, report: &Report| {
        let out = folder.path().join(name);
        write(&out, report).unwrap();
        ["index.html", "items.html", "summary.md"].map(|file| fs::read_to_string(out.join(file)).unwrap())
    };
    assert!(files("collected", &report) == files("loaded", &loaded));
}

#[test]
fn a_file_that_changed_meanwhile_is_an_error_that_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, run, items) = crate::support::run(4);
    crate::report::save(folder.path(), &summary, &run, &items);
    let mut collector = Collector::default();
    items.iter().for_each(|item| collector.take(item, 7));
    let error = collector.finish(folder.path(), summary, run).unwrap_err();
    assert!(matches!(error, ReportError::Moved { offset: 7, .. }), "{error}");
    assert!(error.to_string().contains("items.jsonl, byte 7"), "{error}");
}
