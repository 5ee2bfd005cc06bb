//! What the run shows, in sentences: a headline and what belongs beside it.

use pericope_eval::cell::Setting;
use pericope_eval::record::Comparison;

use super::decision;
use super::view::{ALPHA, View, decided};
use pericope_eval::format;
use pericope_eval::metric::Metric;

/// The smallest p-value of runs of older versions: none could go below 1 in 10,001.
const FLOOR: f64 = 1.0 / 10_000.0;

/// The headline: the verdict. Runs of older versions have none; then one sentence, two where the sample decides nothing.
pub(crate) fn headline(view: &View) -> String {
    if let Some(verdict) = &view.summary.verdict {
        return verdict.sentence.clone();
    }
    let (Some(setting), Some(metric)) = (&view.setting, &view.metric) else {
        return "No question was scored, so there is nothing to compare.".to_owned();
    };
    match &view.pair {
        Some((a, b)) => view
            .comparison(a, b, setting, metric)
            .map_or_else(|| alone(view, setting, metric), |c| sentence(view, c, setting, metric)),
        None => alone(view, setting, metric),
    }
}

/// What belongs beside the headline: the same pair at an equal budget of tokens and by its answers, the headline's
/// subject against the others, and what the cutting costs. Where there is a verdict: what it rests on, and what else was
/// seen, which is exploratory.
pub(crate) fn findings(view: &View) -> Vec<String> {
    if view.summary.verdict.is_some() {
        return decision::notes(view).into_iter().chain(exploratory(view)).collect();
    }
    let (Some(setting), Some(metric), Some((a, b))) = (&view.setting, &view.metric, &view.pair) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let budgets = view.settings(&setting.mode).into_iter().filter(|s| s.cutoff.k().is_none() && s != setting);
    if let Some(budget) = budgets.max_by_key(|s| s.cutoff)
        && let Some(c) = view.comparison(a, b, &budget, metric)
    {
        found.push(sentence(view, c, &budget, metric));
    }
    if let Some(answers) = view.answer_metric().filter(|m| *m != metric)
        && let Some(c) = view.comparison(a, b, setting, answers)
    {
        found.push(sentence(view, c, setting, answers));
    }
    let others = view
        .comparisons
        .iter()
        .filter(|c| c.metric == *metric && setting.is(&c.mode, c.cutoff) && c.a == *a && c.b != *b);
    found.extend(others.take(3).map(|c| sentence(view, c, setting, metric)));
    found.extend(cost(view, a, b));
    found
}

/// What the verdict's pair does by its answers and at the largest number of chunks, or budget, that does not decide.
fn exploratory(view: &View) -> Vec<String> {
    let (Some(setting), Some(metric), Some((a, b))) = (&view.setting, &view.metric, &view.pair) else {
        return Vec::new();
    };
    let mut wanted = Vec::new();
    wanted.extend(view.answer_metric().filter(|m| *m != metric).map(|m| (setting.clone(), m)));
    let by_k = setting.cutoff.k().is_some();
    let others = view.settings(&setting.mode).into_iter().filter(|s| s.cutoff.k().is_some() != by_k);
    wanted.extend(others.max_by_key(|s| s.cutoff).map(|s| (s, metric)));
    let mut found: Vec<String> = (wanted.into_iter())
        .filter_map(|(s, m)| Some(unadjusted(view, view.comparison(a, b, &s, m)?, &s, m)))
        .collect();
    found.extend(cost(view, a, b));
    found
}

/// An exploratory comparison: figures without a verdict.
fn unadjusted(view: &View, c: &Comparison, setting: &Setting, metric: &Metric) -> String {
    let unit = metric.unit();
    let value =
        |name: &str| view.value(name, setting, metric).map_or_else(|| format::ABSENT.to_owned(), |x| unit.value(x));
    let at = place(view, setting);
    format!(
        "Exploratory: {}{}, {} of {} is {} against {} for {}: {}{} (unadjusted 95\u{a0}% interval {} to {}).",
        at.chars().take(1).flat_map(char::to_lowercase).collect::<String>(),
        at.chars().skip(1).collect::<String>(),
        metric.label(),
        c.a,
        value(&c.a),
        value(&c.b),
        c.b,
        unit.difference(c.difference),
        unit.points(),
        unit.difference(c.low),
        unit.difference(c.high)
    )
}

/// One comparison in full: what each reaches, the difference with its interval, and an honest word where it could be
/// chance.
fn sentence(view: &View, c: &Comparison, setting: &Setting, metric: &Metric) -> String {
    let unit = metric.unit();
    let both = view.value(&c.a, setting, metric).zip(view.value(&c.b, setting, metric));
    let figures = format!(
        "{}{} (95\u{a0}% interval {} to {}, {}) over {}",
        unit.difference(c.difference),
        unit.points(),
        unit.difference(c.low),
        unit.difference(c.high),
        format::p_sentence(c.p),
        format::plural(c.n, "question"),
    );
    if !c.difference.is_finite() || c.n == 0 {
        return format!(
            "{}, {} and {} have no question in common with a {}.",
            place(view, setting),
            c.a,
            c.b,
            metric.label()
        );
    }
    if decided(c) {
        let says = match both {
            Some((x, y)) => format!("{} against {} for {}", metric.says(&c.a, &unit.value(x)), unit.value(y), c.b),
            None => format!("{} and {} differ in {}", c.a, c.b, metric.label()),
        };
        return format!("{}, {says}: {figures}.", place(view, setting));
    }
    let values = both.map_or_else(String::new, |(x, y)| format!(" ({} against {})", unit.value(x), unit.value(y)));
    let mut text = format!(
        "{}, whether {} and {} differ in {} is open{values}: {figures}.",
        place(view, setting),
        c.a,
        c.b,
        metric.label()
    );
    let corrected = c.p_holm.unwrap_or(c.p);
    if c.p <= FLOOR && corrected >= ALPHA {
        text.push_str(&format!(
            " Its p-value is the smallest that 10,000 resamples give; after correction for the other comparisons it is {}, \
             so it cannot be resolved with these resamples. Run the experiment again for a verdict.",
            format::p_value(corrected)
        ));
    } else if c.p < ALPHA && (c.low > 0.0 || c.high < 0.0) {
        text.push_str(&format!(
            " Taken alone it would pass, but after correction for the other comparisons {}.",
            format::p_sentence(corrected)
        ));
    } else if c.detectable.is_finite() {
        text.push_str(&format!(
            " It could have shown {}{}.",
            unit.difference(c.detectable).trim_start_matches('+'),
            unit.points()
        ));
    }
    text
}

/// `At k = 3`, with the mode where there are several.
fn place(view: &View, setting: &Setting) -> String {
    if view.modes.len() > 1 {
        format!("{} with {} retrieval", setting.cutoff.at(), setting.mode)
    } else {
        setting.cutoff.at()
    }
}

/// The best chunker where no pair was compared.
fn alone(view: &View, setting: &Setting, metric: &Metric) -> String {
    let values =
        view.summary.chunkers.iter().filter_map(|row| Some((&row.name, view.value(&row.name, setting, metric)?)));
    let Some((name, value)) = values.max_by(|(_, x), (_, y)| x.total_cmp(y)) else {
        return "No question was scored, so there is nothing to compare.".to_owned();
    };
    let says = metric.says(name, &metric.unit().value(value));
    let over = format::plural(view.summary.questions, "question");
    let why = if view.summary.chunkers.len() < 2 {
        "There is one chunker, so there is nothing to compare it with."
    } else {
        "The run holds no paired comparison of the chunkers."
    };
    format!("{}, {says} over {over}. {why}", place(view, setting))
}

/// What the pair's cutting amounts to.
fn cost(view: &View, a: &str, b: &str) -> Option<String> {
    let row = |name: &str| view.summary.chunkers.iter().find(|c| c.name == name);
    let (x, y) = (row(a)?, row(b)?);
    let cutting = match (x.seconds(), y.seconds()) {
        (Some(_), Some(_)) => {
            format!("; cutting took {} and {}", format::seconds(x.segment_seconds), format::seconds(y.segment_seconds))
        }
        // What others cut took a time that nobody knows.
        _ => String::new(),
    };
    Some(format!(
        "{a} makes {} of {} tokens on average (the longest {}), {b} {} of {} (the longest {}){cutting}.",
        format::plural(x.chunks, "chunk"),
        format::mean(x.mean_tokens),
        format::count(x.max_tokens),
        format::plural(y.chunks, "chunk"),
        format::mean(y.mean_tokens),
        format::count(y.max_tokens),
    ))
}

#[cfg(test)]
mod tests {
    use super::{findings, headline};
    use crate::run::view::View;
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Cell, ChunkerRow, Comparison, PrimaryRecord, Summary, Verdict};

    fn run(difference: f64, p: f64, p_holm: f64) -> Summary {
        let cell = |chunker: &str, x: f64| Cell {
            chunker: chunker.into(),
            mode: "dense".into(),
            cutoff: Cutoff::K(3),
            metrics: [("span_recall".into(), x)].into(),
            ..Cell::default()
        };
        let chunker =
            |name: &str, spec: &str| ChunkerRow { name: name.into(), spec: spec.into(), ..Default::default() };
        Summary {
            questions: 104,
            chunkers: vec![chunker("same-size", "same-size:reference=semantic"), chunker("semantic", "window")],
            cells: vec![cell("same-size", 0.66), cell("semantic", 0.66 + difference)],
            comparisons: vec![Comparison {
                a: "semantic".into(),
                b: "same-size".into(),
                mode: "dense".into(),
                cutoff: Cutoff::K(3),
                metric: "span_recall".into(),
                n: 104,
                difference,
                low: difference - 0.041,
                high: difference + 0.042,
                p,
                p_holm: Some(p_holm).filter(|p| p.is_finite()),
                detectable: 0.061,
                ..Comparison::default()
            }],
            ..Summary::default()
        }
    }

    fn said(summary: &Summary) -> String {
        headline(&View::new(summary)).replace('\u{a0}', " ")
    }

    #[test]
    fn better() {
        assert_eq!(
            said(&run(0.052, 0.02, 0.04)),
            "At k = 3, semantic finds 71.2 % of the gold text against 66.0 % for same-size: +5.2 points (95 % interval \
             +1.1 to +9.4, p = 0.02) over 104 questions."
        );
    }

    #[test]
    fn a_time_that_nobody_knows_is_not_said() {
        let mut summary = run(0.052, 0.02, 0.04);
        let said = |summary: &Summary| findings(&View::new(summary)).join("\n");
        assert!(said(&summary).contains("; cutting took"), "{}", said(&summary));
        summary.chunkers[1].spec = "chunks:mine.jsonl".into();
        assert!(said(&summary).contains("semantic makes") && !said(&summary).contains("cutting"), "{}", said(&summary));
    }

    #[test]
    fn several_modes_are_told_apart() {
        let mut two = run(0.052, 0.02, 0.04);
        two.cells.push(Cell { mode: "bm25".into(), ..Cell::default() });
        assert!(said(&two).starts_with("At k = 3 with dense retrieval, semantic finds 71.2 %"), "{}", said(&two));
    }

    #[test]
    fn worse() {
        assert_eq!(
            said(&run(-0.06, 0.0004, 0.0008)),
            "At k = 3, semantic finds 60.0 % of the gold text against 66.0 % for same-size: −6.0 points (95 % interval \
             −10.1 to −1.8, p < 0.001) over 104 questions."
        );
    }

    #[test]
    fn undecided_says_what_the_sample_could_have_shown() {
        let text = said(&run(0.007, 0.61, 0.9));
        assert!(
            text.starts_with("At k = 3, whether semantic and same-size differ in span recall is open (66.7 %"),
            "{text}"
        );
        assert!(text.ends_with("over 104 questions. It could have shown 6.1 points."), "{text}");
    }

    #[test]
    fn a_difference_that_the_correction_takes_back_is_not_claimed() {
        let text = said(&run(0.052, 0.02, 0.11));
        assert!(text.contains(" is open ") && text.contains("after correction"), "{text}");
        assert!(text.contains("p = 0.11"), "{text}");
    }

    #[test]
    fn what_the_resamples_cannot_resolve_is_not_called_no_difference() {
        let text = said(&run(0.458, 1.0 / 10_001.0, 528.0 / 10_001.0));
        assert!(text.contains("cannot be resolved with these resamples") && !text.contains("no difference"), "{text}");
    }

    #[test]
    fn a_verdict_comes_first_and_the_rest_is_exploratory() {
        let mut decided = run(0.052, 0.02, 0.02);
        decided.verdict = Some(Verdict {
            primary: PrimaryRecord {
                baseline: "same-size".into(),
                mode: "dense".into(),
                cutoff: Cutoff::K(3),
                margin: 0.02,
                comparisons: 1,
                questions: 104,
                documents: 26,
                design_effect: Some(2.0),
                ..PrimaryRecord::default()
            },
            best: "semantic".into(),
            recommended: "semantic".into(),
            possible: vec!["semantic".into(), "same-size".into()],
            documents_needed: Some(31),
            sentence: "Take semantic.".into(),
            ..Verdict::default()
        });
        assert_eq!(said(&decided), "Take semantic.");
        let found = findings(&View::new(&decided)).join("\n").replace('\u{a0}', " ");
        for part in [
            "tell semantic from same-size in 4 of 5 samples: 31 at the 5.2 points that were seen. Here are 26.",
            "104 questions on 26 documents (design effect 2.0: worth about 52 independent ones).",
            "Holm’s correction over 1 comparison. Differences below 2.0 points do not matter.",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    #[test]
    fn nothing_to_compare() {
        assert!(said(&Summary::default()).contains("nothing to compare"));
        let mut one = run(0.0, 1.0, 1.0);
        one.chunkers.truncate(1);
        one.cells.truncate(1);
        one.comparisons.clear();
        assert!(said(&one).contains("same-size finds 66.0 %"), "{}", said(&one));
        assert!(findings(&View::new(&one)).is_empty());
    }

    #[test]
    fn no_common_question_is_no_number() {
        let mut none = run(f64::NAN, f64::NAN, f64::NAN);
        none.comparisons.iter_mut().for_each(|c| c.n = 0);
        assert!(said(&none).contains("no question in common"), "{}", said(&none));
        assert!(!said(&none).contains("NaN"));
    }
}
