#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::sentence::Reason;
use super::verdict::{Cost, cheapest, indexing_pace, seconds, undecided};
use super::*;
use crate::cell::Cutoff;
use crate::record::{Gold, Item, Status};

const AT: Cutoff = Cutoff::Tokens(512);

/// Scores that vary by document and question, and by `own` of a chunker's.
fn item(chunker: &str, document: usize, question: usize, cutoff: Cutoff, shift: f64) -> Item {
    let wave = |x: usize| (x as f64 * 12.9898).sin() * 0.1;
    let own = chunker.bytes().map(usize::from).sum::<usize>();
    Item {
        question_id: format!("d{document} q{question}"),
        chunker: chunker.into(),
        mode: "bm25".into(),
        cutoff,
        gold: Gold { document: format!("d{document}"), ..Gold::default() },
        metrics: [
            (
                Metric::SPAN_RECALL,
                0.5 + shift + wave(document * 7 + question) + wave(own * 31 + document * 3 + question),
            ),
            (Metric::IOU, 0.3),
        ]
        .into(),
        ..Item::default()
    }
}

/// `shifts`: by chunker, what it scores above 0.5.
fn items(shifts: &[(&str, f64)], documents: usize) -> Vec<Item> {
    let mut items = Vec::new();
    for (chunker, shift) in shifts {
        for document in 0..documents {
            for question in 0..document % 3 + 1 {
                for cutoff in [Cutoff::K(1), AT] {
                    items.push(item(chunker, document, question, cutoff, *shift));
                }
            }
        }
    }
    items
}

fn compared(shifts: &[(&str, f64)], items: Vec<Item>, baseline: &str) -> (Compared, Vec<Cell>) {
    compared_but(&[], shifts, items, baseline)
}

/// `unanswered`: ids of questions without a gold answer.
fn compared_but(
    unanswered: &[&str],
    shifts: &[(&str, f64)],
    items: Vec<Item>,
    baseline: &str,
) -> (Compared, Vec<Cell>) {
    let rows: Vec<ChunkerRow> =
        shifts.iter().map(|(name, _)| ChunkerRow { name: (*name).to_owned(), ..ChunkerRow::default() }).collect();
    let settings = [Cutoff::K(1), AT].map(|cutoff| Setting { mode: "bm25".into(), cutoff });
    let decision =
        Decision { baseline: baseline.into(), metric: Metric::SPAN_RECALL, setting: settings[1].clone(), margin: 0.02 };
    let mut cells: Vec<Cell> = Vec::new();
    for row in &rows {
        for setting in &settings {
            let failed =
                |item: &&Item| item.chunker == row.name && item.is_at(setting) && item.status == Status::Failed;
            cells.push(Cell {
                chunker: row.name.clone(),
                mode: setting.mode.clone(),
                cutoff: setting.cutoff,
                failed: items.iter().filter(failed).count(),
                ..Cell::default()
            });
        }
    }
    let mut scores = Scores::new(unanswered.iter().copied());
    items.into_iter().for_each(|item| scores.add(item));
    let plan = Plan { chunkers: &rows, settings: &settings, decision: &decision, seed: 7 };
    let found = all(&scores, &plan, &mut cells);
    (found, cells)
}

const SHIFTS: [(&str, f64); 4] = [("fixed", 0.0), ("same", 0.0), ("good", 0.2), ("bad", -0.2)];

#[test]
fn the_family_is_the_comparisons_with_the_baseline_at_one_cell() {
    let (found, cells) = compared(&SHIFTS, items(&SHIFTS, 40), "same");
    let primary: Vec<&Comparison> = found.comparisons.iter().filter(|c| c.family == Some(Family::Primary)).collect();
    // Six pairs, two cutoffs, two metrics.
    assert_eq!((found.comparisons.len(), primary.len()), (24, 3));
    assert!(found.comparisons.iter().take(3).all(|c| c.family == Some(Family::Primary)), "they come first");
    for c in &primary {
        assert_eq!((c.b.as_str(), c.cutoff, &c.metric), ("same", AT, &Metric::SPAN_RECALL));
        assert!(c.p_holm.is_some_and(|p| p >= c.p) && c.outcome.is_some() && c.documents == Some(40));
    }
    let of = |name: &str| primary.iter().find(|c| c.a == name).unwrap().outcome;
    assert_eq!((of("good"), of("bad")), (Some(Outcome::Better), Some(Outcome::Worse)));
    for c in found.comparisons.iter().filter(|c| c.family == Some(Family::Exploratory)) {
        assert_eq!((c.p_holm, c.outcome), (None, None));
        assert!(c.p > 0.0 && c.p <= 1.0);
    }
    // The same pair elsewhere is exploratory and may be called anything but decided; its figures are there.
    let elsewhere =
        found.comparisons.iter().find(|c| c.a == "good" && c.b == "same" && c.cutoff == Cutoff::K(1)).unwrap();
    assert_eq!(elsewhere.family, Some(Family::Exploratory));
    assert!(primary[0].detectable > elsewhere.detectable * 1.1, "the level after correction is stricter");
    assert!(
        cells.iter().all(|cell| cell.intervals.contains_key("span_recall") && cell.metrics_without_failed.is_empty())
    );
}

#[test]
fn the_verdict_names_the_best_and_what_it_rests_on() {
    let (found, _) = compared(&SHIFTS, items(&SHIFTS, 40), "fixed");
    let verdict = found.verdict.unwrap();
    assert_eq!((verdict.best.as_str(), verdict.recommended.as_str()), ("good", "good"));
    assert_eq!(verdict.possible, ["good"]);
    assert!(verdict.p_best["good"] > 0.999 && (verdict.p_best.values().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!((verdict.primary.documents, verdict.primary.questions, verdict.primary.comparisons), (40, 79, 3));
    assert!(verdict.documents_needed.unwrap() < 40);
    assert!(
        verdict
            .sentence
            .starts_with("Within 512 tokens, take good, the only one of 4 chunkers that may be the best: span")
            && verdict.sentence.contains("for the baseline fixed (+")
            && verdict.sentence.ends_with(": better)."),
        "{}",
        verdict.sentence
    );
}

#[test]
fn chunkers_that_differ_by_nothing_that_matters_are_called_so_and_others_open() {
    // "same" is a copy of "fixed" but for a shift far below the margin.
    let shifts = [("fixed", 0.0), ("same", 0.0)];
    let mut alike = items(&shifts[..1], 40);
    let copies: Vec<Item> = alike
        .iter()
        .map(|item| {
            let mut copy = Item { chunker: "same".into(), ..item.clone() };
            copy.metrics
                .insert(Metric::SPAN_RECALL, item.metrics["span_recall"] + 0.001 * (item.question_id.len() % 2) as f64);
            copy
        })
        .collect();
    alike.extend(copies);
    let verdict = compared(&shifts, alike, "fixed").0.verdict.unwrap();
    assert!(
        verdict.sentence.contains("no difference that matters") || verdict.possible.len() == 1,
        "{}",
        verdict.sentence
    );
    // Two that waver: neither better nor the same.
    let (found, _) = compared(&shifts, items(&shifts, 12), "fixed");
    assert_eq!(found.comparisons[0].outcome, Some(Outcome::Open));
    let verdict = found.verdict.unwrap();
    assert!(verdict.sentence.contains("open") && !verdict.sentence.contains("no difference"), "{}", verdict.sentence);
    assert!(verdict.sentence.contains("open: both chunkers (fixed and same)"), "{}", verdict.sentence);
    assert!(verdict.sentence.contains("more documents with"), "{}", verdict.sentence);
    assert_eq!(verdict.possible, ["fixed", "same"]);
}

/// Two chunkers, the second of which scores 0.1 more in nine of eleven documents and 0.1 less in two: p is 134 of 2,048.
fn nearly() -> Vec<Item> {
    let mut items = Vec::new();
    for document in 0..11 {
        let above = if document < 9 { 0.1 } else { -0.1 };
        for (chunker, score) in [("fixed", 0.5), ("good", 0.5 + above)] {
            for cutoff in [Cutoff::K(1), AT] {
                let mut item = item(chunker, document, 0, cutoff, 0.0);
                item.metrics.insert(Metric::SPAN_RECALL, score);
                items.push(item);
            }
        }
    }
    items
}

#[test]
fn the_only_one_left_is_not_taken_where_its_comparison_is_open() {
    let shifts = [("fixed", 0.0), ("good", 0.0)];
    let of = |baseline: &str| {
        let found = compared(&shifts, nearly(), baseline).0;
        let (p, outcome) = (found.comparisons[0].p, found.comparisons[0].outcome);
        assert_eq!((p, outcome), (134.0 / 2048.0, Some(Outcome::Open)));
        let verdict = found.verdict.unwrap();
        assert_eq!((verdict.possible.as_slice(), verdict.best.as_str()), (["good".to_owned()].as_slice(), "good"));
        verdict.sentence
    };
    let sentence = of("fixed");
    let start = "Within 512 tokens, open: good has the highest mean, but its difference from the baseline is not decided: \
                 span recall ";
    assert!(sentence.starts_with(start) && sentence.contains("p = 0.07 after correction: open)"), "{sentence}");
    let end = "; about 2 more documents with 2 questions would tell good from fixed.";
    assert!(sentence.ends_with(end), "{sentence}");
    // The baseline itself is the one that is left.
    let sentence = of("good");
    let start = "Within 512 tokens, open: good, the baseline, has the highest mean, but its difference from fixed is not \
                 decided (p = 0.07 after correction): span recall ";
    assert!(sentence.starts_with(start) && sentence.ends_with(&format!("and it is the baseline{end}")), "{sentence}");
}

#[test]
fn the_only_one_left_is_taken_where_the_comparisons_with_the_baseline_show_it() {
    use Outcome::{Better, Equivalent, Open, Worse};

    let family = |outcomes: &[(&str, Outcome)]| -> Vec<Comparison> {
        let one = |&(a, outcome): &(&str, Outcome)| Comparison {
            a: a.into(),
            b: "base".into(),
            p_holm: Some(0.06),
            outcome: Some(outcome),
            ..Comparison::default()
        };
        outcomes.iter().map(one).collect()
    };
    let says = |left: &str, best: &str, outcomes: &[(&str, Outcome)]| {
        let primary = crate::record::PrimaryRecord {
            baseline: "base".into(),
            metric: Metric::SPAN_RECALL,
            documents: 30,
            questions: 90,
            comparisons: outcomes.len(),
            cutoff: AT,
            ..Default::default()
        };
        let verdict = Verdict {
            primary,
            best: best.into(),
            possible: vec![left.into()],
            recommended: left.into(),
            documents_needed: Some(40),
            ..Verdict::default()
        };
        let means = ["base", "a, b", "c"].map(|name| (name.to_owned(), 0.4)).into();
        let about = sentence::About { means, next: Some("c".into()), reason: Reason::Highest, cells: &[] };
        sentence::of(&verdict, &family(outcomes), &about).trim_start_matches("Within 512 tokens, ").to_owned()
    };
    let starts = |text: String, start: &str| assert!(text.starts_with(start), "{text}");
    let take = "the only one of 3 chunkers that may be the best: span recall";
    starts(says("c", "c", &[("a, b", Open), ("c", Better)]), &format!("take c, {take}"));
    starts(says("base", "base", &[("a, b", Worse), ("c", Worse)]), &format!("take base, {take}"));
    let text = says("base", "base", &[("a, b", Open), ("c", Worse)]);
    assert!(!text.contains("more document"), "c is not what is open: {text}");
    starts(
        text,
        "open: base, the baseline, has the highest mean, but its difference from \"a, b\" is not decided (p = 0.06 after",
    );
    starts(
        says("base", "base", &[("a, b", Open), ("c", Open)]),
        "open: base, the baseline, has the highest mean, but its differences from \"a, b\" and c are not decided: span",
    );
    starts(
        says("c", "a, b", &[("a, b", Better), ("c", Open)]),
        "open: a, b has the highest mean, but the difference of c from the baseline is not decided: span recall",
    );
    // What differs by nothing that matters is no winner either.
    starts(
        says("c", "c", &[("a, b", Open), ("c", Equivalent)]),
        "c has the highest mean, and its difference from the baseline is none that matters: span recall",
    );
    // What is better by less than matters is said to be.
    let slight = |a: &str, outcome: Outcome, sign: f64| Comparison {
        difference: sign * 0.001,
        low: sign.min(0.0) * 0.002,
        high: sign.max(0.0) * 0.002,
        ..family(&[(a, outcome)]).remove(0)
    };
    let of = |left: &str, family: &[Comparison]| {
        let primary = crate::record::PrimaryRecord {
            baseline: "base".into(),
            metric: Metric::SPAN_RECALL,
            margin: 0.02,
            documents: 30,
            questions: 90,
            cutoff: AT,
            ..Default::default()
        };
        let verdict = Verdict {
            primary,
            best: left.into(),
            possible: vec![left.into()],
            recommended: left.into(),
            ..Verdict::default()
        };
        let means = ["base", "c"].map(|name| (name.to_owned(), 0.4)).into();
        let about = sentence::About { means, next: None, reason: Reason::Highest, cells: &[] };
        sentence::of(&verdict, family, &about)
    };
    let text = of("c", &[slight("c", Better, 1.0)]);
    assert!(text.ends_with("after correction: better, but by less than the 2.0 points that matter)."), "{text}");
    let text = of("base", &[slight("c", Worse, -1.0)]);
    assert!(text.contains("that may be the best, by less than the 2.0 points that matter: span recall"), "{text}");
    // Nothing was compared with a baseline that has no value.
    starts(
        says("c", "c", &[]),
        "open: c has the highest mean, but its difference from the baseline is not decided: span",
    );
}

#[test]
fn few_documents_cannot_resolve_and_say_so() {
    let shifts = [("fixed", 0.0), ("good", 0.4)];
    let (found, _) = compared(&shifts, items(&shifts, 4), "fixed");
    assert_eq!((found.comparisons[0].p, found.comparisons[0].outcome), (0.125, Some(Outcome::Unresolvable)));
    let verdict = found.verdict.unwrap();
    assert!(verdict.sentence.contains("cannot be resolved with questions on 4 documents"), "{}", verdict.sentence);
    assert!(!verdict.sentence.contains("no difference"));
    // Nor can twenty that are alike but for four.
    let few = ["d0", "d1", "d2", "d3"];
    let mut alike = items(&shifts[..1], 20);
    let copies = alike.clone().into_iter().map(|mut item| {
        if few.contains(&item.gold.document.as_str()) {
            item.metrics.insert(Metric::SPAN_RECALL, item.metrics["span_recall"] + 0.4);
        }
        Item { chunker: "good".into(), ..item }
    });
    alike.extend(copies);
    let (found, _) = compared(&shifts, alike, "fixed");
    assert_eq!((found.comparisons[0].p, found.comparisons[0].outcome), (0.125, Some(Outcome::Unresolvable)));
    let sentence = found.verdict.unwrap().sentence;
    assert!(sentence.contains("questions on 20 documents, since too few of them differ"), "{sentence}");
    // One document: no interval at all, and everything may be the best.
    let (found, cells) = compared(&shifts, items(&shifts, 1), "fixed");
    assert!(found.comparisons[0].low.is_nan() && cells[0].intervals.is_empty());
    let verdict = found.verdict.unwrap();
    assert_eq!(verdict.possible, ["fixed", "good"]);
    // Every resample of one document is that document: a share of 1 would be no chance at all.
    assert!(verdict.p_best.is_empty() && verdict.sentence.contains("cannot be resolved"), "{verdict:?}");
    assert!(verdict.sentence.ends_with(": cannot be resolved)."), "{}", verdict.sentence);
}

#[test]
fn a_failed_item_scores_the_worst_and_stays_in_every_mean() {
    let shifts = [("fixed", 0.0), ("good", 0.2)];
    let mut items = items(&shifts, 20);
    let fail = |item: &mut Item| {
        item.metrics.remove("span_recall");
        item.status = Status::Failed;
    };
    // Every question of five documents fails with the better one; what was measured of the others stays.
    let failing: Vec<&mut Item> = items
        .iter_mut()
        .filter(|item| item.chunker == "good" && item.cutoff == AT && item.gold.document.as_str() < "d13")
        .collect();
    let many = failing.len();
    failing.into_iter().for_each(fail);
    let of_cell: Vec<Item> = items.iter().filter(|item| item.chunker == "good" && item.cutoff == AT).cloned().collect();
    let (found, cells) = compared(&shifts, items, "fixed");
    let cell = cells.iter().find(|cell| cell.chunker == "good" && cell.cutoff == AT).unwrap();
    assert!(many > 0 && cell.failed == many);
    let sum: f64 = of_cell.iter().filter_map(|item| item.metrics.get("span_recall")).sum();
    assert!((cell.metrics["span_recall"] - sum / of_cell.len() as f64).abs() < 1e-12, "over all");
    assert!((cell.metrics_without_failed["span_recall"] - sum / (of_cell.len() - many) as f64).abs() < 1e-12);
    assert!((cell.metrics["iou"] - 0.3).abs() < 1e-12, "what a failed item did measure counts");
    let c = &found.comparisons[0];
    let other = cells.iter().find(|cell| cell.chunker == "fixed" && cell.cutoff == AT).unwrap();
    assert_eq!(c.n, of_cell.len(), "no question is left out");
    assert!((c.difference - (cell.metrics["span_recall"] - other.metrics["span_recall"])).abs() < 1e-12);
}

#[test]
fn a_metric_that_a_question_has_not_is_no_failure() {
    // Questions without a gold answer have no judge's score, failed or not.
    let shifts = [("fixed", 0.0), ("good", 0.2)];
    let mut items = items(&shifts, 12);
    for item in &mut items {
        if item.question_id != "d3 q0" {
            item.metrics.insert(Metric::JUDGE, 6.0);
        }
    }
    let one = items.iter_mut().find(|item| item.question_id == "d3 q0").unwrap();
    (one.status, one.error) = (Status::Failed, Some("timed out".into()));
    let (_, cells) = compared_but(&["d3 q0"], &shifts, items.clone(), "fixed");
    assert!(cells.iter().all(|cell| (cell.metrics["judge"] - 6.0).abs() < 1e-12));
    // Where it has an answer, a failure counts, even if the judge failed for every chunker.
    items.iter_mut().filter(|item| item.question_id == "d3 q0").for_each(|item| item.status = Status::Failed);
    let (found, cells) = compared(&shifts, items, "fixed");
    let questions = (0..12).map(|document| document % 3 + 1).sum::<usize>();
    let mean = 6.0 * (questions - 1) as f64 / questions as f64;
    assert!(cells.iter().all(|cell| (cell.metrics["judge"] - mean).abs() < 1e-12));
    assert!(
        found.comparisons.iter().filter(|c| c.metric == Metric::JUDGE).all(|c| c.n == questions && c.ties == questions)
    );
}

#[test]
fn a_failure_scores_nothing_by_what_is_not_measured_of_its_chunker() {
    // Of a retriever of others nobody knows all chunks, so that it has no nDCG; one of its questions fails.
    let shifts = [("fixed", 0.0), ("good", 0.2), ("mine", 0.1)];
    let mut items = items(&shifts, 12);
    for item in items.iter_mut().filter(|item| item.chunker != "mine") {
        item.metrics.insert(Metric::NDCG, 0.5);
    }
    for item in items.iter_mut().filter(|item| item.chunker == "mine" && item.question_id == "d4 q0") {
        item.metrics.clear();
        item.status = Status::Failed;
    }
    let (found, cells) = compared(&shifts, items.clone(), "fixed");
    let of = |name: &str| cells.iter().find(|cell| cell.chunker == name && cell.cutoff == AT).unwrap();
    assert!(!of("mine").metrics.contains_key("ndcg") && of("mine").metrics.contains_key("span_recall"));
    assert!(of("mine").metrics["iou"] < 0.3, "what is measured of it is the worst where it failed");
    let questions = (0..12).map(|document| document % 3 + 1).sum::<usize>();
    let by_ndcg: Vec<&Comparison> = found.comparisons.iter().filter(|c| c.metric == Metric::NDCG).collect();
    assert!(by_ndcg.iter().all(|c| (c.a.as_str(), c.b.as_str(), c.n) == ("good", "fixed", questions)), "{by_ndcg:?}");
    assert_eq!(by_ndcg.len(), 2, "at both cutoffs");
    // Where nothing of it succeeded, nobody knows what would have been measured: it is the worst by everything.
    for item in items.iter_mut().filter(|item| item.chunker == "mine") {
        item.metrics.clear();
        item.status = Status::Failed;
    }
    let (_, cells) = compared(&shifts, items, "fixed");
    let mut mine = cells.iter().filter(|cell| cell.chunker == "mine");
    assert!(mine.all(|cell| cell.metrics["ndcg"] == 0.0 && cell.metrics["span_recall"] == 0.0));
}

#[test]
fn the_cheapest_is_chosen_step_by_step() {
    let cost = |seconds: f64, tokens: f64, money: f64| Cost { seconds: Some(seconds), tokens, money };
    let place = |among: &[usize], costs: &[Cost], means: &[f64]| cheapest(among, costs, means).map(|(at, _)| at);
    let all = [0, 1, 2];
    // Far more seconds; then more tokens; then more money; then the higher mean, and of equals the earlier.
    let seconds = [cost(76.0, 100.0, 0.0), cost(0.02, 500.0, 9.0), cost(60.0, 100.0, 0.0)];
    assert_eq!(place(&all, &seconds, &[0.9, 0.1, 0.5]), Some(1));
    let tokens = [cost(1.0, 431.0, 0.0), cost(1.4, 286.0, 9.0), cost(2.5, 290.0, 9.2)];
    assert_eq!(place(&all, &tokens, &[0.9, 0.1, 0.5]), Some(2));
    let money = [cost(1.0, 300.0, 2.0), cost(1.0, 300.0, 1.0), cost(1.0, 300.0, 1.04)];
    assert_eq!(place(&all, &money, &[0.9, 0.5, 0.5]), Some(1));
    assert_eq!(place(&[2], &money, &[0.9, 0.5, 0.5]), Some(2));
    assert_eq!(place(&[], &money, &[]), None);
    assert_eq!(cheapest(&all, &seconds, &[0.9, 0.1, 0.5]), Some((1, Reason::Cheapest(1))));
    assert_eq!(cheapest(&all, &tokens, &[0.9, 0.1, 0.5]), Some((2, Reason::Cheapest(2))), "the second is as cheap");
    let alike = [cost(0.3, 100.0, 0.0), cost(0.2, 101.0, 0.0)];
    assert_eq!(
        cheapest(&[0, 1], &alike, &[0.6, 0.5]),
        Some((0, Reason::Highest)),
        "nothing speaks for the cheaper one"
    );
}

#[test]
fn what_is_like_the_highest_is_not_said_to_be_like_all_others() {
    let says = |possible: &[&str]| {
        let primary = crate::record::PrimaryRecord {
            baseline: "a".into(),
            metric: Metric::SPAN_RECALL,
            margin: 0.02,
            documents: 30,
            cutoff: AT,
            ..Default::default()
        };
        let names = || possible.iter().map(|name| (*name).to_owned());
        let verdict = Verdict {
            primary,
            best: "c".into(),
            possible: names().collect(),
            equivalent: names().filter(|name| name != "c").collect(),
            recommended: "a".into(),
            ..Verdict::default()
        };
        let means = names().map(|name| (name, 0.4)).collect();
        let about = sentence::About { means, next: None, reason: Reason::Cheapest(1), cells: &[] };
        sentence::of(&verdict, &[], &about)
    };
    let start = "Within 512 tokens, take a, the cheapest of ";
    let two =
        format!("{start}2 chunkers between which there is no difference that matters (of 2.0 points or more): span");
    let three = format!("{start}3 chunkers of which none differs from c by what matters (2.0 points or more): span");
    assert!(says(&["a", "c"]).starts_with(&two), "{}", says(&["a", "c"]));
    assert!(says(&["a", "b", "c"]).starts_with(&three), "{}", says(&["a", "b", "c"]));
}

#[test]
fn what_is_known_to_be_worse_is_not_recommended() {
    let names = ["base", "slow", "cheap"];
    let family = |slow: Outcome, cheap: Outcome| -> Vec<Comparison> {
        let one = |(a, outcome): (&str, Outcome)| Comparison {
            a: a.into(),
            b: "base".into(),
            outcome: Some(outcome),
            ..Comparison::default()
        };
        [("slow", slow), ("cheap", cheap)].map(one).into()
    };
    let left = |possible: &[usize], family: &[Comparison]| undecided(possible, &names, family, "base");
    assert_eq!(left(&[0, 1, 2], &family(Outcome::Open, Outcome::Worse)), [0, 1]);
    assert_eq!(left(&[0, 1, 2], &family(Outcome::Better, Outcome::Open)), [1, 2]);
    assert_eq!(left(&[0, 1, 2], &family(Outcome::Equivalent, Outcome::Open)), [0, 1, 2]);
    assert_eq!(left(&[2], &family(Outcome::Open, Outcome::Worse)), [2], "something has to be named");
}

#[test]
fn what_is_not_known_is_not_cheap() {
    let cost = |seconds: Option<f64>, tokens: f64| Cost { seconds, tokens, money: 0.0 };
    // A service that is deployed, or chunks out of a file, beside a chunker that takes a minute.
    let costs = [cost(None, 10.0), cost(Some(60.0), 1_000.0), cost(Some(f64::NAN), 10.0)];
    assert_eq!(cheapest(&[0, 1, 2], &costs, &[0.9, 0.5, 0.9]), Some((1, Reason::CheapestKnown(1))));
    // Of two whose times are not known, the other figures decide.
    assert_eq!(cheapest(&[0, 2], &costs, &[0.8, 0.5, 0.9]), Some((2, Reason::CheapestKnown(2))));
    let row = |spec: &str| ChunkerRow {
        spec: spec.into(),
        segment_seconds: 1.0,
        index_seconds: 2.0,
        ..ChunkerRow::default()
    };
    assert_eq!(row("command:python3 chunks.py").seconds(), Some(3.0));
    assert_eq!(row("chunks:my.jsonl,offsets=chars").seconds(), None);
    assert_eq!(row("chunks,file=my.jsonl").seconds(), None);
    assert_eq!(ChunkerRow { retriever: Some(Default::default()), ..row("http://x") }.seconds(), None);
}

#[test]
fn indexing_that_was_disturbed_makes_no_chunker_dearer() {
    let row = |segment_seconds: f64, index_seconds: f64, chunks: usize, mean_tokens: f64| ChunkerRow {
        spec: "fixed".into(),
        segment_seconds,
        index_seconds,
        chunks,
        mean_tokens,
        ..ChunkerRow::default()
    };
    // The first two index as many tokens, the third half again as many and quickly; 120 s for 1,000 tokens in all.
    let rows = [row(0.5, 20.0, 4, 80.0), row(0.1, 80.0, 2, 160.0), row(30.0, 20.0, 3, 120.0)];
    let pace = indexing_pace(&rows);
    assert!((pace.unwrap() - 0.12).abs() < 1e-12);
    let found: Vec<f64> = rows.iter().map(|row| seconds(row, pace).unwrap()).collect();
    for (found, expected) in found.iter().zip([38.9, 38.5, 73.2]) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    assert_eq!(indexing_pace(&[]), None);
    assert_eq!(seconds(&rows[1], None), Some(80.1));
    let chunks = ChunkerRow { spec: "chunks:a.jsonl".into(), ..row(0.0, 900.0, 4, 80.0) };
    assert_eq!((indexing_pace(&[rows[0].clone(), chunks.clone()]), seconds(&chunks, pace)), (Some(0.0625), None));
}

#[test]
fn a_handful_of_documents_that_tie_shows_no_equality() {
    let shifts = [("fixed", 0.0), ("same", 0.0)];
    let tied = |documents: usize| {
        let own = items(&shifts[..1], documents);
        let copies = own.iter().map(|item| Item { chunker: "same".into(), ..item.clone() });
        let both: Vec<Item> = own.iter().cloned().chain(copies).collect();
        compared(&shifts, both, "fixed").0
    };
    let found = tied(9);
    assert_eq!((found.comparisons[0].low, found.comparisons[0].outcome), (0.0, Some(Outcome::Unresolvable)));
    let sentence = found.verdict.unwrap().sentence;
    assert!(sentence.contains("open") && !sentence.contains("no difference"), "{sentence}");
    assert!(
        sentence.contains("cannot be resolved with questions on 9 documents, since too few of them differ"),
        "{sentence}"
    );
    // Nine that waver.
    let sentence = compared(&shifts, items(&shifts, 9), "fixed").0.verdict.unwrap().sentence;
    assert!(sentence.ends_with("; with 9 documents no interval can be trusted."), "{sentence}");
    let found = tied(10);
    assert_eq!(found.comparisons[0].outcome, Some(Outcome::Equivalent));
    assert!(!found.verdict.unwrap().sentence.contains("trusted"));
}

#[test]
fn what_more_documents_would_show_is_said_as_it_is() {
    let verdict = |seen: Option<usize>, margin: Option<usize>| Verdict {
        primary: crate::record::PrimaryRecord {
            documents: 30,
            questions: 90,
            margin: 0.02,
            cutoff: AT,
            ..Default::default()
        },
        best: "a".into(),
        possible: vec!["a".into(), "b".into()],
        recommended: "a".into(),
        documents_needed: seen,
        documents_needed_for_margin: margin,
        ..Verdict::default()
    };
    let means = BTreeMap::from([("a".to_owned(), 0.4), ("b".to_owned(), 0.39)]);
    let about = sentence::About { means, next: Some("b".into()), reason: Reason::Cheapest(1), cells: &[] };
    let says = |seen, margin| sentence::of(&verdict(seen, margin), &[], &about);
    // 40 are enough for the difference that was seen, which is larger than the smallest that matters.
    assert!(says(Some(40), Some(51)).ends_with("; about 10 more documents with 30 questions would tell a from b."));
    // Less was seen: 51 do not tell the two apart, unless they differ by as much as matters.
    let less = says(Some(464), Some(51));
    assert!(
        less.ends_with("; about 21 more documents with 63 questions would show whether a and b differ by 2.0 points."),
        "{less}"
    );
    assert!(!says(Some(464), Some(20)).contains("more documents"));
    // Among more than two it is no promise of the verdict.
    let mut among = verdict(Some(40), Some(51));
    among.primary.comparisons = 11;
    let sentence = sentence::of(&among, &[], &about);
    assert!(sentence.contains("a is the cheapest of them"), "{sentence}");
    let comma = Verdict { possible: vec!["a, x".into(), "b".into()], ..among.clone() };
    let listed = sentence::of(&comma, &[], &about);
    assert!(listed.contains("both chunkers (\"a, x\" and b) may be"), "{listed}");
    let two = sentence::About { reason: Reason::Cheapest(2), means: about.means.clone(), next: None, cells: &[] };
    let of_two = sentence::of(&among, &[], &two);
    assert!(of_two.contains("a scores highest of the 2 cheapest of them"), "{of_two}");
    assert!(
        sentence.ends_with("more documents with 30 questions would tell a from b, were these two alone compared."),
        "{sentence}"
    );
}
