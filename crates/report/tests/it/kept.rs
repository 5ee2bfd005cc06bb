//! The reports that are kept in the repository say of segmenters what their own figures allow.

use std::fs;
use std::path::Path;

/// What a line says of two segmenters, in its own figures.
struct Said {
    line: String,
    interval: String,
    p: String,
    decided: bool,
}

/// A figure as reports write it; none where there is none.
fn number(text: &str) -> Option<f64> {
    text.trim().replace('−', "-").trim_start_matches('+').parse().ok()
}

impl Said {
    /// A line of reports that compare the first two: `helm: Pk of a minus b: −4.8 points, 95 % interval −9.6 to −0.2,
    /// p = 0.045: a does better. a does better on ...`.
    fn of_sentence(line: &str) -> Option<Self> {
        let (_, figures) = line.split_once(" points, 95 % interval ")?;
        let (interval, rest) = figures.split_once(", p ")?;
        let (p, rest) = rest.split_once(": ")?;
        let verdict = rest.split(". ").next()?;
        Some(Self::new(line, interval, p, verdict.contains("does better")))
    }

    /// The rows of the tables of reports that compare all with the first.
    fn of_tables(text: &str) -> Vec<Self> {
        let mut found = Vec::new();
        for table in text.split("\n\n").filter(|block| block.starts_with("| segmenter |")) {
            let cells = |line: &str| -> Vec<String> {
                line.trim_matches(['|', ' ']).split(" | ").map(|cell| cell.trim().to_owned()).collect()
            };
            let head = cells(table.lines().next().unwrap());
            let at = |name: &str| head.iter().position(|cell| cell == name).unwrap();
            for line in table.lines().skip(2) {
                let row = cells(line);
                let decided = ["does better", "does worse"].contains(&row[at("result")].as_str());
                found.push(Self::new(line, &row[at("95 % interval")], &row[at("p")], decided));
            }
        }
        found
    }

    fn new(line: &str, interval: &str, p: &str, decided: bool) -> Self {
        let p = p.trim_start_matches("= ").to_owned();
        Self { line: line.to_owned(), interval: interval.to_owned(), p, decided }
    }

    /// True where p is below 0.05 and the interval excludes 0, as far as rounded figures tell.
    fn is_shown(&self) -> bool {
        let low_p = self.p.starts_with("&lt;") || number(&self.p).is_some_and(|p| p <= 0.05);
        let ends = self.interval.split_once(" to ").and_then(|(low, high)| Some((number(low)?, number(high)?)));
        low_p && ends.is_some_and(|(low, high)| low >= 0.0 || high <= 0.0)
    }
}

fn said(text: &str) -> Vec<Said> {
    let mut found: Vec<Said> = text.lines().filter_map(Said::of_sentence).collect();
    found.extend(Said::of_tables(text));
    found
}

#[test]
fn who_does_better_follows_from_p_and_interval() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let (mut wrong, mut decided) = (Vec::new(), 0);
    for folder in fs::read_dir(&kept).unwrap() {
        let path = folder.unwrap().path().join("segments.md");
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let found = said(&text);
        assert!(!found.is_empty(), "{}: nothing in it is read as a comparison", path.display());
        for one in found.into_iter().filter(|one| one.decided) {
            decided += 1;
            if !one.is_shown() {
                wrong.push(format!("{}: {}", path.display(), one.line));
            }
        }
    }
    assert!(decided > 0, "no report under {} decides anything", kept.display());
    assert!(wrong.is_empty(), "scripts/reports --only NAME makes a report again:\n{}", wrong.join("\n"));
}

#[test]
fn what_does_not_follow_is_found() {
    let sentence = |p: &str, interval: &str, verdict: &str| {
        let line = format!(
            "- s: Pk of a minus b: −4.8 points, 95 % interval {interval}, p {p}: {verdict}. a does better on 3."
        );
        let found = said(&line);
        assert_eq!(found.len(), 1, "{line}");
        !found[0].decided || found[0].is_shown()
    };
    assert!(
        sentence("= 0.045", "−9.6 to −0.2", "a does better") && sentence("&lt; 0.001", "+1 to +2", "b does better")
    );
    assert!(
        !sentence("= 0.07", "−9.6 to −0.2", "a does better") && !sentence("= 0.01", "−9.6 to +0.2", "a does better")
    );
    assert!(!sentence("= 0.01", "– to –", "a does better") && sentence("= 0.50", "– to –", "which is better is open"));
    // Of today's reports.
    let report = crate::snapshots::segmentation();
    let made = said(&report.markdown());
    assert_eq!(made.len(), 4, "a row for each segmenter of both sets");
    assert!(made.iter().all(|one| !one.decided));
    let text = report.markdown().replacen("cannot be resolved |", "does worse |", 1);
    assert_eq!(said(&text).iter().filter(|one| one.decided && !one.is_shown()).count(), 1);
}
