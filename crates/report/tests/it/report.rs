//! The report as its readers get it: files, pages that hold together whatever is in the data, and honest words.

use std::fs;
use std::path::Path;

use pericope_eval::record::{Item, Metrics, RetrieverRow, RunRecord, Summary};
use pericope_report::run::{Report, ReportError, table, write, write_many};

/// What must not get out of its place: markup, ends of sections, quotes, control and direction characters.
pub const HOSTILE: &str = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \" ' & ]]> --> \u{0}\u{7}\u{1b}[31m \u{202e}back\u{2066} | `x` [a](javascript:b)";

fn pages(report: &Report) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path(), report).unwrap();
    let read = (fs::read_to_string(written.html).unwrap(), fs::read_to_string(written.markdown).unwrap());
    // The page of all items is written where they are in a file.
    let files = 2 + usize::from(report.items.is_some());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files, "nothing else is left behind");
    read
}

fn no_number_gone_wrong(text: &str) {
    for wrong in ["NaN", "nan ", " inf", "-inf", "null", "undefined"] {
        assert!(!text.contains(wrong), "{wrong}");
    }
}

#[test]
fn a_run_becomes_a_page_that_holds_all_parts() {
    let (summary, run, items) = crate::support::run(60);
    let report = Report::new(summary, run, &items);
    let (page, markdown) = pages(&report);
    let tags = crate::support::html::check(&page);
    let ids: Vec<&str> = tags.iter().filter_map(|t| t.get("id")).collect();
    for id in ["results", "comparisons", "chunkers", "questions", "run"] {
        assert!(ids.contains(&id), "{id}");
    }
    assert_eq!(tags.iter().filter(|t| t.get("class") == Some("question")).count(), 10);
    assert!(tags.iter().filter(|t| t.name == "mark").count() > 10, "gold is marked");
    for title in [
        "Span recall by k",
        "Span recall by token budget",
        "Span recall by tokens paid",
        "Chunk sizes",
        "What decides: differences in span recall",
        "Exploratory: differences in judge",
    ] {
        let named = |t: &&crate::support::html::Tag| t.get("aria-label").is_some_and(|l| l.starts_with(title));
        assert!(tags.iter().find(named).is_some(), "{title}");
    }
    let headline = report.headline();
    assert!(page.replace('\u{a0}', " ").contains(&headline));
    assert!(markdown.replace('\u{a0}', " ").contains(&headline));
    for part in ["0.0.0-synthetic", &"a".repeat(64), "2026-01-01T06:00:00Z", "gave no answer within 60 s"] {
        assert!(page.contains(part), "{part}");
    }
    no_number_gone_wrong(&page.split("<script>").next().unwrap().replace("minmax", ""));
    no_number_gone_wrong(&markdown);
}

#[test]
fn scores_of_a_judge_name_it_where_they_stand() {
    let (summary, mut run, items) = crate::support::run(6);
    run.config = serde_json::json!({
        "judge": {"kind": "llm", "votes": 3}, "answer": {"generator": "llm"},
        "llm": {"judge": {"model": "clever-1", "provider": "openai"}},
    });
    run.checksums.prompts.insert("judge".into(), "3f9c1a2b7d10".repeat(5));
    let (page, markdown) = pages(&Report::new(summary.clone(), run.clone(), &items));
    let line = "Judged: judge by clever-1 (openai), prompt 3f9c1a2b7d10, 3 votes.";
    let scores = markdown.split("## Scores, dense").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(scores.trim_end().ends_with(line), "{scores}");
    // At the judge's charts, and under the tables.
    assert_eq!(page.matches(line).count(), 2);
    crate::support::html::check(&page);
    // Where nobody judged, nobody is named.
    run.config["judge"]["kind"] = "none".into();
    let (page, markdown) = pages(&Report::new(summary, run, &items));
    assert!(!page.contains("Judged: ") && !markdown.contains("Judged: "));
}

#[test]
fn secrets_that_an_older_run_holds_are_in_no_page() {
    let (summary, mut run, items) = crate::support::run(4);
    run.config = serde_json::json!({
        "nightly": {"url": "https://me:hush-1@ci.example/n", "on_finish": ["curl", "hush-2"], "webhook": "https://h.example/hush-3"},
        "llm": {"judge": {"base_url": "https://h.example/hush-4/v1", "headers": {"X": "hush-5 ${KEY}"}}},
    });
    let (page, markdown) = pages(&Report::new(summary, run, &items));
    assert!(page.contains("h.example") && page.contains("${KEY}"));
    assert!(!page.contains("hush-") && !markdown.contains("hush-"));
}

#[test]
fn what_a_retriever_handed_out_stands_where_people_look() {
    let (mut summary, run, items) = crate::support::run(6);
    let plain = |text: &str| text.replace('\u{a0}', " ");
    let (page, markdown) = pages(&Report::new(summary.clone(), run.clone(), &items));
    for text in [&page, &markdown, &table(&summary, 100)] {
        assert!(!text.contains("in no document"), "no retriever was measured: {text}");
    }
    let row = summary.chunkers.last_mut().unwrap();
    let name = row.name.clone();
    (row.segment_seconds, row.index_seconds) = (0.0, 0.0);
    row.retriever = Some(RetrieverRow { passages: 1_200, unplaced: 90 });
    let (page, markdown) = pages(&Report::new(summary.clone(), run, &items));
    crate::support::html::check(&page);
    let line = |text: &str| {
        let of_table = plain(text).split("## Chunkers").nth(1).unwrap().to_owned();
        of_table.lines().find(|line| line.contains(&format!("| {name} |"))).unwrap().to_owned()
    };
    assert!(line(&markdown).ends_with("| – | – | 1,200 | 90 (7.5 %) |"), "{}", line(&markdown));
    assert!(plain(&page).contains(">1,200<") && plain(&page).contains(">90 (7.5 %)<"));
    let warning = format!("in no document of the data: {name} (90 of 1,200 passages, 7.5 %)");
    let joined = |text: &str| plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [&page, &markdown, &table(&summary, 100)] {
        assert!(joined(text).contains(&warning), "{text}");
    }
}

/// A run in which every text is hostile.
pub fn hostile() -> (Summary, RunRecord, Vec<Item>) {
    let (mut summary, mut run, mut items) = crate::support::run(8);
    let rename = |name: &mut String| *name = format!("{name} {HOSTILE}");
    rename(&mut summary.name);
    summary.chunkers.iter_mut().for_each(|c| [&mut c.name, &mut c.spec].into_iter().for_each(rename));
    summary.cells.iter_mut().for_each(|c| [&mut c.chunker, &mut c.mode].into_iter().for_each(rename));
    for c in &mut summary.comparisons {
        [&mut c.a, &mut c.b, &mut c.mode].into_iter().for_each(rename);
    }
    if let Some(verdict) = &mut summary.verdict {
        let primary = &mut verdict.primary;
        let names = [&mut verdict.best, &mut verdict.recommended, &mut primary.baseline, &mut primary.mode];
        names.into_iter().chain(&mut verdict.possible).for_each(rename);
        verdict.p_best = verdict.p_best.iter().map(|(name, p)| (format!("{name} {HOSTILE}"), *p)).collect();
        verdict.sentence = format!("Take {HOSTILE}.");
    }
    for item in &mut items {
        [&mut item.chunker, &mut item.mode, &mut item.question, &mut item.question_id, &mut item.gold.text]
            .into_iter()
            .for_each(rename);
        item.error.iter_mut().for_each(rename);
        item.answer.iter_mut().for_each(|a| rename(&mut a.text));
        for chunk in &mut item.retrieved {
            // The text stays as long as its range, so that its gold is marked all the same.
            let from = chunk.text.len();
            chunk.text = format!("{HOSTILE}{}", chunk.text);
            let fitting = (0..=from).rev().find(|at| chunk.text.is_char_boundary(*at)).unwrap();
            chunk.text.truncate(fitting);
            chunk.text.extend(std::iter::repeat_n('x', from - fitting));
            chunk.heading_path.iter_mut().for_each(rename);
        }
    }
    run.config["name"] = HOSTILE.into();
    run.checksums.data.insert(HOSTILE.into(), HOSTILE.into());
    run.machine.os = HOSTILE.into();
    (summary, run, items)
}

#[test]
fn nothing_in_the_data_becomes_markup() {
    let (summary, run, items) = hostile();
    let report = Report::new(summary, run, &items);
    assert!(!report.contrasts.is_empty() && !report.failures.is_empty());
    let (page, markdown) = pages(&report);
    crate::support::html::check(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("<mark>"));
    assert!(!markdown.contains('<') && !markdown.replace("\\]", "").contains("]("), "{markdown}");
    assert!(!markdown.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn what_is_not_a_number_is_never_printed() {
    let (mut summary, run, mut items) = crate::support::run(6);
    for c in &mut summary.chunkers {
        [&mut c.mean_words, &mut c.mean_tokens, &mut c.segment_seconds, &mut c.index_seconds]
            .into_iter()
            .for_each(|x| *x = f64::NAN);
    }
    for cell in &mut summary.cells {
        cell.context_tokens = f64::INFINITY;
        cell.query_p50_ms = Some(f64::NAN);
        cell.metrics.values_mut().step_by(2).for_each(|x| *x = f64::NAN);
    }
    for c in &mut summary.comparisons {
        [&mut c.difference, &mut c.low, &mut c.high, &mut c.p, &mut c.detectable]
            .into_iter()
            .for_each(|x| *x = f64::NAN);
        c.p_holm = c.p_holm.map(|_| f64::NAN);
        c.design_effect = Some(f64::NAN);
    }
    for item in &mut items {
        item.metrics.values_mut().step_by(3).for_each(|x| *x = f64::NAN);
        item.retrieved.iter_mut().for_each(|r| (r.score, r.gold_share) = (f64::NAN, f64::NAN));
    }
    let text = table(&summary, 100);
    let (page, markdown) = pages(&Report::new(summary, run, &items));
    crate::support::html::check(&page);
    no_number_gone_wrong(&text);
    no_number_gone_wrong(&markdown);
    no_number_gone_wrong(&page.split("<script>").next().unwrap().replace("minmax", ""));
}

#[test]
fn small_and_empty_runs_have_a_page_too() {
    let (page, markdown) = pages(&Report::default());
    crate::support::html::check(&page);
    assert!(page.contains("nothing to compare") && markdown.contains("nothing to compare"));

    let (mut summary, run, items) = crate::support::run(5);
    summary.chunkers.truncate(1);
    summary.cells.retain(|c| c.chunker == "fixed");
    summary.comparisons.clear();
    summary.verdict = None;
    let items: Vec<Item> = items.into_iter().filter(|i| i.chunker == "fixed").collect();
    let (page, _) = pages(&Report::new(summary.clone(), run.clone(), &items));
    crate::support::html::check(&page);
    assert!(page.contains("There is one chunker") && page.contains("nothing to set side by side"));

    for cell in &mut summary.cells {
        cell.metrics = Metrics::new();
    }
    let (page, _) = pages(&Report::new(summary, run, &[]));
    crate::support::html::check(&page);
}

#[test]
fn the_page_stays_light_whatever_was_retrieved() {
    let (summary, run, mut items) = crate::support::run(12);
    let (mut wide, mut rows) = (summary.clone(), Vec::new());
    for copy in 0..3 {
        for row in &summary.chunkers {
            rows.push(pericope_eval::record::ChunkerRow { name: format!("{}-{copy}", row.name), ..row.clone() });
        }
    }
    wide.chunkers = rows;
    let mut more = Vec::new();
    for copy in 0..3 {
        for item in &items {
            let mut item = Item { chunker: format!("{}-{copy}", item.chunker), ..item.clone() };
            let chunk = item.retrieved.first().cloned().unwrap_or_default();
            item.retrieved = vec![chunk; 40];
            for (i, chunk) in item.retrieved.iter_mut().enumerate() {
                chunk.text = if i % 2 == 0 { "<&".repeat(2_000) } else { "章節 ".repeat(2_000) };
                chunk.heading_path = vec!["<".repeat(5_000)];
            }
            item.gold.text = "\"".repeat(50_000);
            item.question = "?".repeat(50_000);
            more.push(item);
        }
    }
    for cell in &mut wide.cells {
        cell.chunker.push_str("-0");
    }
    items = more;
    let (page, _) = pages(&Report::new(wide, run, &items));
    crate::support::html::check(&page);
    assert!(page.contains("more below these"));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

pub fn save(folder: &Path, summary: &Summary, run: &RunRecord, items: &[Item]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("summary.json"), serde_json::to_string(summary).unwrap()).unwrap();
    fs::write(folder.join("run.json"), serde_json::to_string(run).unwrap()).unwrap();
    let lines: Vec<String> = items.iter().map(|i| serde_json::to_string(i).unwrap()).collect();
    fs::write(folder.join("items.jsonl"), lines.join("\n") + "\n\n").unwrap();
}

#[test]
fn a_report_from_files_is_the_report_from_memory() {
    let (summary, run, items) = crate::support::run(20);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("nightly-1");
    save(&dir, &summary, &run, &items);
    let loaded = Report::load(&dir).unwrap();
    assert_eq!(loaded.label.as_deref(), Some("nightly-1"));
    let built =
        Report { label: loaded.label.clone(), items: loaded.items.clone(), ..Report::new(summary, run, &items) };
    assert!(pages(&loaded) == pages(&built));
}

#[test]
fn a_damaged_folder_is_an_error_that_says_where() {
    let (summary, run, items) = crate::support::run(4);
    let folder = tempfile::tempdir().unwrap();
    let missing = Report::load(folder.path()).unwrap_err();
    assert!(matches!(missing, ReportError::Read { .. }));
    assert!(missing.to_string().contains("run.json") && missing.to_string().contains("--resume"), "{missing}");
    save(folder.path(), &summary, &run, &items);
    let path = folder.path().join("items.jsonl");
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    lines[2].truncate(50);
    fs::write(&path, lines.join("\n")).unwrap();
    let damaged = Report::load(folder.path()).unwrap_err().to_string();
    assert!(damaged.contains("items.jsonl, line 3"), "{damaged}");
}

#[test]
fn several_runs_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, run, items) = crate::support::run(20);
    let first = Report { label: Some("before <b>".into()), ..Report::new(summary, run, &items) };
    let mut second = Report { label: Some("after".into()), ..first.clone() };
    second.summary.cells.iter_mut().for_each(|c| c.metrics.values_mut().for_each(|x| *x *= 0.9));
    second.run.config["retrieval"]["k"] = serde_json::json!([3]);
    second.run.checksums.data.insert("synthetic.json".into(), "c".repeat(64));
    let written = write_many(folder.path(), &[first.clone(), second]).unwrap();
    let page = fs::read_to_string(&written.html).unwrap();
    let tags = crate::support::html::check(&page);
    let links: Vec<&str> = tags.iter().filter_map(|t| t.get("href")).filter(|h| !h.starts_with('#')).collect();
    assert_eq!(links.len(), 2);
    for link in links {
        crate::support::html::check(&fs::read_to_string(folder.path().join(link)).unwrap());
    }
    assert!(
        page.contains("before &lt;b&gt;")
            && page.contains("retrieval.k")
            && page.contains("did not read the same data")
    );
    assert!(page.contains(" (−"), "the change against the first run");
    assert!(fs::read_to_string(written.markdown).unwrap().contains("side by side"));

    let alone = write_many(&folder.path().join("one"), std::slice::from_ref(&first)).unwrap();
    assert!(fs::read_to_string(alone.html).unwrap().contains("Where the chunkers differ most"));
}

#[test]
fn the_terminal_table_fits_its_width() {
    let (mut summary, ..) = crate::support::run(12);
    for width in [60, 80, 120] {
        let text = table(&summary, width);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width && longest > width - 20, "{longest} of {width}: {text}");
    }
    let text = table(&summary, 100);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("semantic") && text.contains("Holm p") && text.is_ascii(), "{text}");
    let long = "a-chunker-with-a-name-that-nobody-would-want-to-read-twice";
    summary.chunkers[1].name = long.into();
    summary.cells.iter_mut().filter(|c| c.chunker == "same-size").for_each(|c| c.chunker = long.into());
    assert!(table(&summary, 100).lines().all(|line| line.chars().count() <= 100));
}
