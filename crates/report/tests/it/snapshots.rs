//! Every page and text as it was when it was last looked at. `INSTA_UPDATE=always cargo test -p pericope-report` takes
//! them anew; in continuous integration a change is a failure.

use std::fs;
use std::path::Path;

use pericope_eval::cell::Cutoff;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Agreement, Cost, Item, RunRecord, Status, Summary};
use pericope_report::run::{Report, table, write, write_many};
use pericope_report::segmentation::Report as SegmentReport;
use pericope_segeval::config::Published;

use crate::support::html::{check, normal};

/// The made-up run with two chunkers, three settings, three metrics, short texts, and something for every section of the page.
fn run() -> (Summary, RunRecord, Vec<Item>) {
    let kept = |chunker: &str| ["fixed", "semantic"].contains(&chunker);
    let settings = [Cutoff::K(1), Cutoff::K(3), Cutoff::Tokens(512)];
    let (mut summary, mut run, mut items) = crate::support::run(4);
    let shown = |metric: &Metric| ["judge", "token_f1", "span_recall"].contains(&metric.key());
    summary.chunkers.retain(|c| kept(&c.name));
    summary.cells.retain(|c| kept(&c.chunker) && settings.contains(&c.cutoff));
    summary.comparisons.retain(|c| kept(&c.a) && kept(&c.b) && settings.contains(&c.cutoff) && shown(&c.metric));
    summary.cells.iter_mut().for_each(|cell| cell.metrics.retain(|metric, _| shown(metric)));
    if let Some(verdict) = &mut summary.verdict {
        verdict.p_best.retain(|chunker, _| kept(chunker));
        verdict.possible.retain(|chunker| kept(chunker));
        (verdict.best, verdict.recommended) = ("semantic".into(), "semantic".into());
        verdict.primary.comparisons = 1;
        verdict.sentence = "At k = 3, a made-up verdict: take semantic.".into();
    }
    items.retain(|i| kept(&i.chunker) && settings.contains(&i.cutoff));
    for (i, cell) in summary.cells.iter_mut().enumerate() {
        cell.query_p50_ms = Some(1.5);
        cell.query_p95_ms = Some(2.25);
        cell.judge_spread = Some(0.5);
        cell.cost = Some(Cost { calls: i as u64, cached: 2, prompt_tokens: 1_234, price: 0.5, ..Cost::default() });
        let value = cell.metrics.get("judge").copied().unwrap_or(0.0);
        cell.intervals.insert("judge".into(), [value - 1.0, value + 1.0]);
    }
    summary.judges_agree = Some(Agreement { n: 36, pearson: 0.7, spearman: 0.6 });
    summary.chunkers.iter_mut().for_each(|row| row.truncated = 3);
    run.prompts.insert("answer".into(), "Answer {question} from {context}.".into());
    run.paid = Some(1.25);
    for item in &mut items {
        item.metrics.retain(|metric, _| shown(metric));
        item.retrieved.truncate(2);
        for chunk in &mut item.retrieved {
            chunk.text.truncate(200);
            chunk.end = chunk.start + chunk.text.len();
        }
    }
    let failed = items.iter_mut().find(|item| item.cutoff == Cutoff::Tokens(512)).unwrap();
    (failed.status, failed.error) = (Status::Failed, Some("no answer within 60 s".into()));
    (summary, run, items)
}

fn save(folder: &Path, summary: &Summary, run: &RunRecord, items: &[Item]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("summary.json"), serde_json::to_string(summary).unwrap()).unwrap();
    fs::write(folder.join("run.json"), serde_json::to_string(run).unwrap()).unwrap();
    let lines: Vec<String> = items.iter().map(|i| serde_json::to_string(i).unwrap()).collect();
    fs::write(folder.join("items.jsonl"), lines.join("\n") + "\n").unwrap();
}

fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.replace(&format!("Pericope {}", env!("CARGO_PKG_VERSION")), "Pericope VERSION")
}

fn page(path: &Path) -> String {
    let text = read(path);
    check(&text);
    normal(&text)
}

#[test]
fn the_report_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, run, items) = run();
    save(folder.path(), &summary, &run, &items);
    let written = write(folder.path(), &Report::load(folder.path()).unwrap()).unwrap();
    insta::assert_snapshot!("run_page", page(&written.html));
    insta::assert_snapshot!("run_markdown", read(&written.markdown));
    insta::assert_snapshot!("run_terminal", table(&summary, 100));
    insta::assert_snapshot!("items_page", page(&folder.path().join("items.html")));
}

#[test]
fn the_data_of_the_items_page() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, run, mut items) = run();
    items.retain(|item| item.question_id == "synthetic-0000");
    save(folder.path(), &summary, &run, &items);
    write(folder.path(), &Report::load(folder.path()).unwrap()).unwrap();
    let page = read(&folder.path().join("items.html"));
    let (_, after) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = after.split_once("</script>").unwrap();
    insta::assert_snapshot!("items_data", data.replace("},{", "},\n{").replace("],[", "],\n["));
}

#[test]
fn several_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, run, items) = run();
    let first = Report { label: Some("before".into()), ..Report::new(summary, run, &items) };
    let mut second = Report { label: Some("after <b>".into()), ..first.clone() };
    second.summary.cells.iter_mut().for_each(|c| c.metrics.values_mut().for_each(|x| *x *= 0.9));
    second.run.config["retrieval"]["k"] = serde_json::json!([3]);
    second.run.version = "0.0.1-synthetic".into();
    let written = write_many(folder.path(), &[first, second]).unwrap();
    insta::assert_snapshot!("runs_page", page(&written.html));
    insta::assert_snapshot!("runs_markdown", read(&written.markdown));
}

pub fn segmentation() -> SegmentReport {
    let mut evaluation = crate::evaluated::evaluation();
    // Times are made up, too.
    for (i, row) in evaluation.rows.iter_mut().enumerate() {
        row.seconds = 0.5 + i as f64;
        row.sentences_per_second = 40.0 / row.seconds;
    }
    let row = |system: &str, f1, known| Published {
        system: system.into(),
        set: "one".into(),
        pk: Some(30.0),
        window_diff: None,
        f1,
        proposed_over_true: None,
        known,
        source: "Someone (2001)".into(),
    };
    let published = [row("Old <b> system", Some(50.0), false), row("Told | system", None, true)];
    let report = SegmentReport::new("sample", &crate::evaluated::sets(), evaluation, &published);
    SegmentReport { embedding_seconds: Some(2.0), ..report }
}

#[test]
fn the_report_of_a_segmentation_evaluation() {
    let folder = tempfile::tempdir().unwrap();
    let written = segmentation().write(folder.path()).unwrap();
    let named = |name: &str| written.iter().find(|path| path.ends_with(name)).unwrap();
    insta::assert_snapshot!("segmentation_page", page(named("index.html")));
    insta::assert_snapshot!("segmentation_markdown", read(named("segments.md")));
    for name in ["f1.svg", "speed.svg", "tiles-one.svg"] {
        let svg = read(named(name));
        roxmltree::Document::parse(&svg).unwrap();
        insta::assert_snapshot!(name.replace('.', "_"), normal(&svg));
    }
}
