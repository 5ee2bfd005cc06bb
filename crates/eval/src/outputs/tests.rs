#![allow(clippy::unwrap_used)]
use super::{Colour, OpenMetrics, Outcome, Suite, TestCase, badge, junit, label};

/// Everything that XML, a quoted label or a line could end at.
const HOSTILE: &str = "a <b> & \"c\" 'd' ]]> \\ {x=\"y\"} \n\r\u{0}\u{1b}[31m\u{202e}😀";
const MENDED: &str = "a <b> & \"c\" 'd' ]]> \\ {x=\"y\"}   \u{fffd}\u{fffd}[31m\u{fffd}😀";

fn case(name: &str, outcome: Outcome) -> TestCase {
    TestCase { name: name.into(), class: "nightly.drop".into(), outcome, properties: vec![("limit", "0.02".into())] }
}

#[test]
fn a_test_report_is_xml_and_counts_its_cases() {
    let cases = [
        case("one", Outcome::Passed),
        case(HOSTILE, Outcome::Failed(HOSTILE.into())),
        case("three", Outcome::Skipped(HOSTILE.into())),
    ];
    let text = junit(&Suite { name: HOSTILE, started: "2026-01-01T00:00:00Z", seconds: 1.25, cases: &cases });
    let document = roxmltree::Document::parse(&text).unwrap();
    let suite = document.root_element().first_element_child().unwrap();
    let of = |name: &str| suite.attribute(name).unwrap();
    assert_eq!((of("tests"), of("failures"), of("errors"), of("skipped")), ("3", "1", "0", "1"));
    assert_eq!((of("name"), of("time"), of("timestamp")), (MENDED, "1.250", "2026-01-01T00:00:00"));
    let cases: Vec<_> = suite.children().filter(roxmltree::Node::is_element).collect();
    let child = |i: usize, name: &str| cases[i].children().find(|c| c.has_tag_name(name));
    assert_eq!(cases.iter().map(|case| case.attribute("name").unwrap()).collect::<Vec<_>>(), ["one", MENDED, "three"]);
    assert!(child(0, "failure").is_none() && child(0, "skipped").is_none());
    assert_eq!(child(1, "failure").unwrap().attribute("message"), Some(MENDED));
    assert_eq!(child(2, "skipped").unwrap().attribute("message"), Some(MENDED));
    assert_eq!(child(2, "properties").unwrap().first_element_child().unwrap().attribute("value"), Some("0.02"));
}

#[test]
fn a_badge_is_xml_of_bounded_width_and_says_its_words_to_readers() {
    let text = badge(HOSTILE, &"ω".repeat(10_000), Colour::Red);
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert!(root.attribute("aria-label").unwrap().starts_with(MENDED));
    let width: f64 = root.attribute("width").unwrap().parse().unwrap();
    assert!((100.0..1000.0).contains(&width), "{width}");
}

#[test]
fn no_label_ends_a_line_and_what_was_not_measured_is_left_out() {
    let mut figures = OpenMetrics::default();
    figures.gauge("pericope_empty", "Nothing.");
    figures.sample(&[], f64::NAN);
    figures.gauge("pericope_night_seconds", "How long\nit took.");
    figures.sample(&[label("experiment", HOSTILE)], 1e-7);
    figures.sample(&[], 3.0);
    let text = figures.finish();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "# TYPE pericope_night_seconds gauge",
            "# UNIT pericope_night_seconds seconds",
            "# HELP pericope_night_seconds How long\\nit took.",
            "pericope_night_seconds{experiment=\"a <b> & \\\"c\\\" 'd' ]]> \\\\ {x=\\\"y\\\"} \\n \u{fffd}\u{fffd}[31m\u{fffd}😀\"} 1e-7",
            "pericope_night_seconds 3.0",
            "# EOF"
        ]
    );
}
