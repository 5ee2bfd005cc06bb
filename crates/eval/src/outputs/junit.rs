use pericope_util::xml_text;

/// How a check came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not: what was measured, in one sentence.
    Failed(String),
    /// It could not be judged, or does not count: why.
    Skipped(String),
}

/// One check as a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// What is checked.
    pub name: String,
    /// What kind of check it is, as `nightly.drop`.
    pub class: String,
    /// How it came out.
    pub outcome: Outcome,
    /// Facts about it, as name and value.
    pub properties: Vec<(&'static str, String)>,
}

/// The checks of one run.
#[derive(Debug, Clone, Copy)]
pub struct Suite<'a> {
    /// The name of the suite.
    pub name: &'a str,
    /// When it began (RFC 3339).
    pub started: &'a str,
    /// How long the run took, in seconds, at least 0.
    pub seconds: f64,
    /// The checks, in their order.
    pub cases: &'a [TestCase],
}

/// Returns the checks in the XML that JUnit's Ant task writes and continuous integration reads: one test case a check.
///
/// There is no standard. The elements are those that Jenkins, GitLab and Azure all take: `testsuites`, `testsuite`,
/// `testcase`, `properties`, `failure` and `skipped`. `timestamp` is without a time zone, in UTC, as the Ant task has it.
#[must_use]
pub fn junit(suite: &Suite<'_>) -> String {
    let count = |is: fn(&Outcome) -> bool| suite.cases.iter().filter(|case| is(&case.outcome)).count();
    let failures = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let seconds = if suite.seconds.is_finite() { suite.seconds.max(0.0) } else { 0.0 };
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", suite.cases.len());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"pericope\" {counts} time=\"{seconds:.3}\">\n"));
    let started = suite.started.trim_end_matches('Z');
    out.push_str(&format!(
        "  <testsuite name=\"{}\" {counts} time=\"{seconds:.3}\" timestamp=\"{}\">\n",
        xml_text(suite.name),
        xml_text(started)
    ));
    suite.cases.iter().for_each(|case| put(&mut out, case));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn put(out: &mut String, case: &TestCase) {
    // Times are those of the run: a check takes none of its own.
    out.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n",
        xml_text(&case.class),
        xml_text(&case.name)
    ));
    if !case.properties.is_empty() {
        out.push_str("      <properties>\n");
        for (name, value) in &case.properties {
            let (name, value) = (xml_text(name), xml_text(value));
            out.push_str(&format!("        <property name=\"{name}\" value=\"{value}\"/>\n"));
        }
        out.push_str("      </properties>\n");
    }
    match &case.outcome {
        Outcome::Passed => {}
        Outcome::Failed(says) => {
            let (says, class) = (xml_text(says), xml_text(&case.class));
            let name = xml_text(&case.name);
            out.push_str(&format!("      <failure type=\"{class}\" message=\"{says}\">{name} {says}</failure>\n"));
        }
        Outcome::Skipped(why) => out.push_str(&format!("      <skipped message=\"{}\"/>\n", xml_text(why))),
    }
    out.push_str("    </testcase>\n");
}
