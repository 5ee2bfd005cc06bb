//! Nights over a corpus that changes a little: no false alarm, and every regression the same night, by name.

use std::fs;
use std::path::Path;

use crate::support::{Fault, World, add, add_unseen, chunkers, experiment, write_run};
use pericope_nightly::{Check, Conclusion, History, Kind, State, Verdict, review, write};
use serde_json::Value;

fn broken(conclusion: &Conclusion) -> Vec<&Check> {
    conclusion.checks.iter().filter(|check| check.is_broken()).collect()
}

fn thirty(dir: &Path, further: &str) -> (World, History) {
    let experiment = experiment(further);
    let mut world = World::new(172);
    let mut history = History::open(dir, "simulated").unwrap();
    for number in 1..=30 {
        let conclusion = add(&mut history, world.night(Fault::NONE), &experiment, dir);
        let lines: Vec<&str> = broken(&conclusion).iter().map(|c| c.says.as_str()).collect();
        assert_eq!(conclusion.night.verdict, Verdict::Passed, "night {number}: {lines:?}");
    }
    (world, history)
}

#[test]
fn thirty_nights_without_an_alarm_then_one_for_each_regression() {
    let dir = tempfile::tempdir().unwrap();
    let (mut world, mut history) = thirty(dir.path(), "");
    let experiment = experiment("");
    let heads = history.heads().unwrap();
    assert!(heads.last().unwrap().documents > heads[0].documents, "the corpus grew");
    assert!(heads.last().unwrap().questions > heads[0].questions, "and so did the questions");

    // A worse embedder: everything that is dense finds less.
    let conclusion =
        add(&mut history, world.night(Fault { mode: "dense", share: 0.15, ..Fault::NONE }), &experiment, dir.path());
    assert_eq!(conclusion.night.verdict, Verdict::Failed);
    assert!(broken(&conclusion).iter().all(|c| c.cell.as_ref().is_none_or(|cell| cell.mode == "dense")));
    assert_eq!(
        broken(&conclusion).iter().filter(|c| c.kind == Kind::Drop && c.metric.name() == "span_recall").count(),
        3
    );
    assert!(
        conclusion.night.line.contains("dense") && conclusion.night.line.contains("failed"),
        "{}",
        conclusion.night.line
    );

    // One chunker broken: it alone is named, and the questions are those that it lost.
    let fault = Fault { chunker: "semantic", share: 0.12, ..Fault::NONE };
    let conclusion = add(&mut history, world.night(fault), &experiment, dir.path());
    assert_eq!(conclusion.reference.as_ref().unwrap().number, 30, "the failed night is no reference");
    let named: Vec<&Check> = broken(&conclusion);
    assert!(!named.is_empty() && named.iter().all(|c| c.what.contains("of semantic")), "{named:?}");
    assert!(conclusion.night.line.contains("of semantic at k = 3"), "{}", conclusion.night.line);
    let group = conclusion.flips.iter().find(|g| g.metric.key() == "span_recall").expect("questions are shown");
    assert!(group.cell.chunker == "semantic" && group.fell >= group.questions.len());
    for flip in &group.questions {
        assert!(flip.before > flip.tonight, "a loss comes first: {flip:?}");
    }
    assert_eq!(chunkers(&conclusion.losses[..4]), ["semantic"]);

    // Chunks twice as large: more of what is read is not gold.
    let fault = Fault { chunker: "fixed", iou: 0.08, ..Fault::NONE };
    let conclusion = add(&mut history, world.night(fault), &experiment, dir.path());
    assert!(broken(&conclusion).iter().all(|c| c.what.starts_with("IoU of fixed")), "{:?}", broken(&conclusion));
    assert!(!broken(&conclusion).is_empty());

    // Cutting takes three times as long.
    let fault = Fault { chunker: "structure", slower: 3.0, ..Fault::NONE };
    let conclusion = add(&mut history, world.night(fault), &experiment, dir.path());
    let [slow] = broken(&conclusion)[..] else { panic!("{:?}", broken(&conclusion)) };
    assert_eq!((slow.kind, slow.what.as_str()), (Kind::Speed, "segment seconds of structure"));

    // Mended: all is well again, against the last good night.
    let conclusion = add(&mut history, world.night(Fault::NONE), &experiment, dir.path());
    assert_eq!(conclusion.night.verdict, Verdict::Passed, "{:?}", broken(&conclusion));
    assert_eq!(conclusion.reference.as_ref().unwrap().number, 30);
}

#[test]
fn unchanged_input_is_never_an_alarm_however_strict_the_gates() {
    let dir = tempfile::tempdir().unwrap();
    let strict = experiment("[[gate]]\nmetric = \"ndcg\"\nmax_drop = 0.0\np = 1.0\n");
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let first = World::new(60).night(Fault::NONE);
    for number in 1..=12 {
        // Only times waver.
        let mut night = first.clone();
        night.number = number;
        night.uid = format!("same {number}");
        let conclusion = add(&mut history, night, &strict, dir.path());
        assert_eq!(conclusion.night.verdict, Verdict::Passed);
        assert!(conclusion.losses.is_empty() && conclusion.gains.is_empty());
        if number > 1 {
            assert!(conclusion.night.line.contains("no score changed"), "{}", conclusion.night.line);
        }
    }
}

#[test]
fn many_small_losses_add_up_against_the_baseline() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut world = World::new(172);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let mut alarm = None;
    for step in 0..25 {
        // One or two questions fewer every night: never more than the gate allows at once.
        let fault = Fault { chunker: "semantic", share: 0.007 * f64::from(step), ..Fault::NONE };
        let night = if step == 0 { world.night(fault) } else { advance(&mut world, fault) };
        let conclusion = add(&mut history, night, &experiment, dir.path());
        if conclusion.night.verdict == Verdict::Failed {
            alarm = Some((step, broken(&conclusion).iter().map(|c| c.kind).collect::<Vec<_>>(), conclusion));
            break;
        }
    }
    let (step, kinds, conclusion) = alarm.expect("the drift is found");
    assert!(step > 3, "no single step is an alarm");
    assert!(kinds.iter().all(|kind| *kind == Kind::Drift), "{kinds:?}");
    assert_eq!(conclusion.baseline.as_ref().unwrap().number, 1);
    assert!(conclusion.night.line.contains("since night 1"), "{}", conclusion.night.line);
    // Without a baseline nobody would have seen it.
    history.pin(Some(conclusion.night.number - 1)).unwrap();
    let again = review_kinds(&history, &experiment, dir.path(), &conclusion);
    assert!(!again, "against last night alone all is well");
}

/// The next night on the same documents: only the fault grows.
fn advance(world: &mut World, fault: Fault) -> pericope_nightly::NightlyRun {
    let mut night = world.night(Fault::NONE);
    let still = World::new(172).night(fault);
    night.questions.truncate(172);
    night.cells = still.cells;
    night
}

fn review_kinds(
    history: &History,
    experiment: &pericope_eval::config::Experiment,
    dir: &Path,
    of: &Conclusion,
) -> bool {
    let again = pericope_nightly::conclude(history, of.night.clone(), experiment, dir, None).unwrap();
    again.checks.iter().any(Check::is_broken)
}

#[test]
fn other_questions_are_not_compared_and_some_are_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut world = World::new(80);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    add(&mut history, world.night(Fault::NONE), &experiment, dir.path());
    // Half of the questions are other ones, and everything breaks for the old ones alone.
    let mut night = world.night(Fault { share: 0.3, ..Fault::NONE });
    for question in night.questions.iter_mut().take(40) {
        question.sum = "new".into();
    }
    let conclusion = add(&mut history, night, &experiment, dir.path());
    let against = conclusion.reference.as_ref().unwrap();
    assert!(
        against.comparable && against.pairing.starts_with("paired on the 40 questions that both nights have"),
        "{}",
        against.pairing
    );
    assert!(broken(&conclusion).iter().all(|c| c.kind == Kind::Speed || c.n == Some(40)));
    assert_eq!(conclusion.night.verdict, Verdict::Failed);
    // All of them others: nothing can be said, and that is said.
    let mut night = world.night(Fault { share: 0.9, ..Fault::NONE });
    for question in &mut night.questions {
        question.sum = "new again".into();
    }
    let conclusion = add(&mut history, night, &experiment, dir.path());
    assert_eq!(conclusion.night.verdict, Verdict::Passed);
    assert!(
        conclusion
            .checks
            .iter()
            .filter(|c| c.kind == Kind::Drop)
            .all(|c| c.state == State::Inconclusive && c.says.starts_with("not comparable"))
    );
    let line = &conclusion.night.line;
    assert!(line.contains("could not be judged") && !line.contains("changed since"), "{line}");
    let number = conclusion.reference.as_ref().unwrap().number;
    assert!(line.ends_with(&format!("; not comparable with night {number}: no question in common")), "{line}");
}

#[test]
fn no_score_is_said_to_have_stayed_where_none_was_compared() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut world = World::new(40);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    for sum in ["first", "other"] {
        let mut night = world.night(Fault::NONE);
        night.questions.iter_mut().for_each(|question| question.sum = sum.into());
        let conclusion = add(&mut history, night, &experiment, dir.path());
        let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
        let page = fs::read_to_string(&written.page).unwrap();
        assert!(!page.contains("score moved") && page.contains("No good night has scores of these questions"));
    }
}

#[test]
fn questions_that_are_gone_or_new_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let first = World::new(60).night(Fault::NONE);
    add(&mut history, first.clone(), &experiment, dir.path());
    let mut night = first.clone();
    (night.number, night.uid) = (2, "second".into());
    // Those of the first night, less 27 of them; three are other ones now.
    night.questions.truncate(33);
    for (i, question) in night.questions.iter_mut().take(3).enumerate() {
        question.id = format!("new{i}");
    }
    night.cells.iter_mut().flat_map(|cell| cell.scores.values_mut()).for_each(|scores| scores.truncate(33));
    let line = add(&mut history, night, &experiment, dir.path()).night.line;
    assert!(line.ends_with("; 30 questions gone, 3 new; no score changed since night 1"), "{line}");
    // Other chunkers: the questions are the same, and no score can be set beside another.
    let mut night = first;
    (night.number, night.uid) = (3, "third".into());
    night.cells.iter_mut().for_each(|cell| cell.key.chunker.push_str(" of old"));
    history.accept(2).unwrap();
    let line = add(&mut history, night, &experiment, dir.path()).night.line;
    assert!(line.ends_with("; not comparable with night 2: no score in common"), "{line}");
}

#[test]
fn no_two_test_cases_have_one_name() {
    let dir = tempfile::tempdir().unwrap();
    let more = "[[gate]]\nmetric = \"failed\"\nmax = 0.01\n[[gate]]\nmetric = \"failed\"\nmax = 0.5\n\
        [[gate]]\nmetric = \"span_recall\"\nk = 3\nmax_drop = 0.5\n";
    let experiment = experiment(more);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let conclusion = add(&mut history, World::new(20).night(Fault::NONE), &experiment, dir.path());
    let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
    let junit = fs::read_to_string(&written.junit).unwrap();
    let document = roxmltree::Document::parse(&junit).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let names: Vec<_> = cases.map(|case| (case.attribute("classname"), case.attribute("name"))).collect();
    let unique: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!((names.len(), unique.len()), (conclusion.checks.len(), conclusion.checks.len()), "{junit}");
    for name in ["failed items", "failed items (2)", "failed items (3)"] {
        assert!(names.contains(&(Some("nightly.failed"), Some(name))), "{name}: {junit}");
    }
}

#[test]
fn data_that_was_left_out_fails_the_night_until_somebody_accepts_it() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let world_night = World::new(60).night(Fault::NONE);
    let mut night = |number: u32, left_out: usize| {
        let mut night = world_night.clone();
        (night.number, night.uid, night.left_out) = (number, format!("night {number}"), Some(left_out));
        let conclusion = add(&mut history, night, &experiment, dir.path());
        if number == 2 {
            let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
            let junit = fs::read_to_string(&written.junit).unwrap();
            assert!(junit.contains("classname=\"nightly.left_out\" name=\"data that was left out\""), "{junit}");
            let latest: Value = serde_json::from_str(&written.json_text).unwrap();
            assert_eq!(
                (latest["left_out"].as_u64(), latest["checks"][1]["kind"].as_str()),
                (Some(2), Some("left_out"))
            );
            assert!(fs::read_to_string(&written.page).unwrap().contains("could not be used and were left out"));
            history.accept(2).unwrap();
        }
        conclusion.night
    };
    assert_eq!(night(1, 0).verdict, Verdict::Passed);
    let failed = night(2, 2);
    assert_eq!(failed.verdict, Verdict::Failed);
    assert!(
        failed.line.ends_with("failed: 2 parts of the data could not be used and were left out"),
        "{}",
        failed.line
    );
    // What was accepted is as it should be; more is not.
    assert_eq!(night(3, 2).verdict, Verdict::Passed);
    assert_eq!(night(4, 3).verdict, Verdict::Failed);
    assert_eq!(history.night(3).unwrap().left_out, Some(2));
}

#[test]
fn a_clock_that_was_moved_back_changes_no_order() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut world = World::new(60);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    for _ in 0..3 {
        add(&mut history, world.night(Fault::NONE), &experiment, dir.path());
    }
    let mut night = world.night(Fault::NONE);
    night.started = "1999-12-31T23:00:00Z".into();
    night.finished = "1999-12-31T23:05:00Z".into();
    let conclusion = add(&mut history, night, &experiment, dir.path());
    assert_eq!(conclusion.reference.as_ref().unwrap().number, 3);
    assert!(conclusion.notes[0].contains("it was moved back"), "{:?}", conclusion.notes);
    let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
    assert!(fs::read_to_string(written.page).unwrap().contains("it was moved back"));
    let next = add(&mut history, world.night(Fault::NONE), &experiment, dir.path());
    assert_eq!((next.night.number, next.reference.as_ref().unwrap().number), (5, 4));
    let order: Vec<u32> = history.heads().unwrap().iter().map(|head| head.number).collect();
    assert_eq!(order, [1, 2, 3, 4, 5]);
}

#[test]
fn what_a_person_accepts_is_good_from_then_on() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("[[gate]]\nmetric = \"ndcg\"\nmax_drop = 0.02\n");
    let mut world = World::new(120);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    add(&mut history, world.night(Fault::NONE), &experiment, dir.path());
    let fault = Fault { share: 0.3, ..Fault::NONE };
    let conclusion = add(&mut history, world.night(fault), &experiment, dir.path());
    assert_eq!(conclusion.night.verdict, Verdict::Failed);
    history.accept(2).unwrap();
    history.pin(Some(2)).unwrap();
    let page = review(&history, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap().written.page;
    assert!(fs::read_to_string(page).unwrap().contains("Failed, accepted"));
    let conclusion = add(&mut history, world.night(fault), &experiment, dir.path());
    assert_eq!((conclusion.night.verdict, conclusion.reference.as_ref().unwrap().number), (Verdict::Passed, 2));
}

#[test]
fn the_files_hold_together_at_thirty_nights_and_at_a_thousand() {
    for (nights, questions) in [(30_u32, 172), (1000, 40)] {
        let dir = tempfile::tempdir().unwrap();
        let experiment = experiment("");
        let mut world = World::new(questions);
        let mut history = History::open(dir.path(), "simulated").unwrap();
        for number in 1..nights {
            let night = world.night(Fault::NONE);
            if number + 1 == nights {
                write_run(dir.path(), &night);
            }
            add_unseen(&mut history, night, number % 37 == 19);
        }
        let night = world.night(Fault { chunker: "semantic", share: 0.35, ..Fault::NONE });
        write_run(dir.path(), &night);
        let conclusion = add(&mut history, night, &experiment, dir.path());
        let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
        let page = fs::read_to_string(&written.page).unwrap();
        assert!(page.len() < 2_000_000, "{} bytes at {nights} nights", page.len());
        let tags = crate::html::check(&page);
        let ids: Vec<&str> = tags.iter().filter_map(|t| t.get("id")).collect();
        for id in ["checks", "differences", "questions", "curves", "times", "nights", "run"] {
            assert!(ids.contains(&id), "{id}");
        }
        // Three metrics (one panel each) by eighteen cells, a curve each.
        let curves = tags.iter().filter(|t| t.get("class") == Some("spark")).count();
        assert!(curves >= 3 * 18, "{curves}");
        assert!(tags.iter().filter(|t| t.get("class") == Some("side")).count() >= 16, "both nights' chunks");
        assert!(tags.iter().any(|t| t.get("href") == Some(format!("nights/{nights:06}/index.html").as_str())));
        assert!(tags.iter().any(|t| t.name == "mark"), "gold is marked");
        let text = page.split("<script>").next().unwrap().replace("minmax", "");
        for wrong in ["NaN", " inf", "undefined"] {
            assert!(!text.contains(wrong), "{wrong}");
        }
        let latest: Value = serde_json::from_str(&fs::read_to_string(&written.json).unwrap()).unwrap();
        assert_eq!((latest["verdict"].as_str(), latest["night"].as_u64()), (Some("failed"), Some(u64::from(nights))));
        assert_eq!(latest["text"], conclusion.night.line);
        assert!(latest["flips"][0]["questions"].as_array().is_some_and(|list| !list.is_empty()));
        let feed = fs::read_to_string(&written.feed).unwrap();
        let feed = roxmltree::Document::parse(&feed).unwrap();
        assert_eq!(feed.root_element().children().filter(|c| c.has_tag_name("entry")).count(), 30);
        let markdown = fs::read_to_string(&written.markdown).unwrap();
        assert!(markdown.contains("❌ failed") && markdown.contains("semantic"), "{markdown}");
    }
}

#[test]
fn nothing_in_the_data_becomes_markup() {
    const HOSTILE: &str = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \" ' & ]]> --> \u{0}\u{1b}[31m \u{202e}x | `y` [a](javascript:b)";
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let mut world = World::new(60);
    for fault in [Fault::NONE, Fault { chunker: "semantic", share: 0.5, ..Fault::NONE }] {
        let mut night = world.night(fault);
        night.questions.iter_mut().for_each(|q| {
            q.text.push_str(HOSTILE);
            q.document.push_str(HOSTILE);
        });
        night.documents = night
            .documents
            .into_iter()
            .map(|(id, sum)| (format!("{id}{HOSTILE}"), format!("{sum}{}", night.number)))
            .collect();
        night.machine.os = format!("{HOSTILE}{}", night.number);
        night.config = serde_json::json!({ HOSTILE: night.number });
        night.program.version = format!("{HOSTILE}{}", night.number);
        write_run(dir.path(), &night);
        let conclusion = add(&mut history, night, &experiment, dir.path());
        let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
        let page = fs::read_to_string(&written.page).unwrap();
        crate::html::check(&page);
        roxmltree::Document::parse(&fs::read_to_string(&written.feed).unwrap()).unwrap();
        let markdown = fs::read_to_string(&written.markdown).unwrap();
        assert!(
            !markdown.contains("<img") && !markdown.contains("[a](j") && !markdown.contains('\u{1b}'),
            "{markdown}"
        );
        serde_json::from_str::<Value>(&fs::read_to_string(&written.json).unwrap()).unwrap();
    }
}
