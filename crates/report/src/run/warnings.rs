//! What a reader should know before believing the figures.

use super::passages;
use super::report::Report;
use super::view::View;
use pericope_eval::config::BudgetRule;
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::FEW_DOCUMENTS;

/// Fewer questions than this seldom separate two close systems.
const FEW: usize = 100;

/// Below this share of what another chunker gives the reader within the same budget, a chunker's tokens are not equal.
const UNFILLED: f64 = 0.95;

/// One paragraph a warning; none where there is nothing to say.
pub(crate) fn warnings(view: &View) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(left_out(view));
    found.extend(failures(view));
    found.extend(few_documents(view));
    found.extend(few_questions(view));
    found.extend(limits(view));
    found.extend(unread(view));
    found.extend(passages::warning(&view.summary.chunkers));
    found.extend(unequal(view));
    found.extend(unfilled(view));
    found.extend(unpaired(view));
    found
}

/// The same, and what only the record of the run tells.
pub(crate) fn of_report(report: &Report, view: &View) -> Vec<String> {
    let mut found = warnings(view);
    let judged = view.metrics.contains(&Metric::JUDGE);
    if judged && report.run.config.pointer("/judge/kind").and_then(serde_json::Value::as_str) == Some("lexical") {
        found.push(
            "The judge’s scores are lexical: they compare the answer’s words with those of the gold answer. No language \
             model has judged anything here."
                .to_owned(),
        );
    }
    found
}

fn left_out(view: &View) -> Option<String> {
    let left_out = view.summary.left_out;
    let verb = if left_out == 1 { "was" } else { "were" };
    (left_out > 0).then(|| {
        format!(
            "{} of the data (questions, documents or lines) could not be used and {verb} left out; the figures are of the rest.",
            format::plural(left_out, "part")
        )
    })
}

fn failures(view: &View) -> Option<String> {
    let failed = view.summary.failed;
    if failed == 0 {
        return None;
    }
    let items = view.summary.questions.saturating_mul(view.summary.cells.len());
    let share = if items > 0 { format!(" of {}", format::count(items)) } else { String::new() };
    let verb = if failed == 1 { "has" } else { "have" };
    // Runs of older versions, which have no verdict, left failed items out of the means.
    let means = if view.summary.verdict.is_some() {
        "In the means and comparisons a failed item scores the worst value; the means without failed items stand beside them."
    } else {
        "What failed is counted in the tables and is no part of the means; every comparison says how many questions it pairs \
         (n)."
    };
    Some(format!("{}{share} {verb} no result. {means}", format::plural(failed, "item")))
}

fn few_documents(view: &View) -> Option<String> {
    let documents = view.summary.verdict.as_ref()?.primary.documents;
    (documents < FEW_DOCUMENTS).then(|| {
        format!(
            "The questions are answered by {}. With fewer than {FEW_DOCUMENTS} no interval and no p-value here can be trusted: \
             questions of one document share its cuts.",
            format::plural(documents, "document")
        )
    })
}

fn few_questions(view: &View) -> Option<String> {
    let questions = view.summary.questions;
    if questions == 0 || questions >= FEW {
        return None;
    }
    let mut text = format!("{} can separate only systems that lie far apart.", capital_plural(questions));
    if let (Some(setting), Some(metric), Some((a, b))) = (&view.setting, &view.metric, &view.pair)
        && let Some(c) =
            view.comparison(a, b, setting, metric).filter(|c| c.detectable.is_finite() && c.detectable > 0.0)
    {
        text.push_str(&format!(
            " Between {a} and {b}, a difference in {} below {}{} would most likely go unseen.",
            metric.label(),
            metric.unit().difference(c.detectable).trim_start_matches('+'),
            metric.unit().points()
        ));
    }
    Some(text)
}

fn capital_plural(questions: usize) -> String {
    if questions == 1 { "A single question".to_owned() } else { format::plural(questions, "question") }
}

fn limits(view: &View) -> Vec<String> {
    let mut found = Vec::new();
    let unlimited: Vec<String> = view
        .summary
        .chunkers
        .iter()
        .filter(|c| c.limit.is_none())
        .map(|c| format!("{} (longest chunk {} tokens)", c.name, format::count(c.max_tokens)))
        .collect();
    if !unlimited.is_empty() {
        found.push(format!(
            "Without a size limit: {}. At the same k such chunkers may give the reader more text; the results at an \
             equal budget of tokens are the fairer ones.",
            format::listed(&unlimited)
        ));
    }
    for row in &view.summary.chunkers {
        if let Some(limit) = row.limit.filter(|&limit| row.max_tokens > limit) {
            found.push(format!(
                "{} has a chunk of {} tokens, above its limit of {}.",
                row.name,
                format::count(row.max_tokens),
                format::count(limit)
            ));
        }
    }
    found
}

fn unread(view: &View) -> Option<String> {
    let rows: Vec<String> = (view.summary.chunkers.iter().filter(|row| row.truncated > 0))
        .map(|row| {
            format!("{} ({} of {} chunks)", row.name, format::count(row.truncated as usize), format::count(row.chunks))
        })
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "Longer than the embedder reads: {}. Dense retrieval does not see the ends of these chunks.",
            format::listed(&rows)
        )
    })
}

/// Chunkers that leave a part of the budget that decides unused.
fn unfilled(view: &View) -> Option<String> {
    let setting = view.summary.verdict.as_ref()?.primary.setting();
    let budget = setting.cutoff.tokens()?;
    let given = |name: &str| view.cell(name, &setting).map(|cell| cell.context_tokens).filter(|x| x.is_finite());
    let tokens: Vec<(&str, f64)> =
        view.summary.chunkers.iter().filter_map(|row| Some((row.name.as_str(), given(&row.name)?))).collect();
    let most = tokens.iter().map(|(_, tokens)| *tokens).fold(0.0, f64::max);
    let short: Vec<String> = (tokens.iter())
        .filter(|(_, tokens)| *tokens < UNFILLED * most)
        .map(|(name, tokens)| format!("{name} ({} on average)", format::mean(*tokens)))
        .collect();
    // Where a budget is not filled to the token, a ranking may go on with a chunk that is too large for the rest.
    let why = match view.summary.budget_rule {
        Some(BudgetRule::Fill) => "their rankings end before",
        Some(BudgetRule::Whole) | None => "their next chunk does not fit into it or their rankings end before",
    };
    (!short.is_empty()).then(|| {
        format!(
            "Of a budget of {} tokens some leave a part unused, because {why}: {}. Others give the reader up to {}.",
            format::count(budget),
            format::listed(&short),
            format::mean(most)
        )
    })
}

/// Controls that are not as large as what they control for.
fn unequal(view: &View) -> Option<String> {
    let rows: Vec<String> = (view.summary.chunkers.iter())
        .filter_map(|row| Some((row, row.same_size.as_ref()?)))
        .filter(|(_, same)| !same.is_equal())
        .map(|(row, same)| format!("{} ({same})", row.name))
        .collect();
    (!rows.is_empty())
        .then(|| format!("Chunks that are to be of equal size and differ by more than 1 %: {}.", format::listed(&rows)))
}

fn unpaired(view: &View) -> Option<String> {
    let summary = view.summary;
    (summary.chunkers.len() > 1 && !summary.cells.is_empty() && summary.comparisons.is_empty())
        .then(|| "There are no paired comparisons: means that lie close together may differ by chance.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{of_report, warnings};
    use crate::run::report::Report;
    use crate::run::view::View;
    use pericope_eval::cell::Cutoff;
    use pericope_eval::config::BudgetRule;
    use pericope_eval::record::{Cell, ChunkerRow, Comparison, PrimaryRecord, RetrieverRow, Summary, Verdict};

    fn chunker(name: &str, max_tokens: usize, limit: Option<usize>) -> ChunkerRow {
        ChunkerRow { name: name.into(), max_tokens, limit, ..ChunkerRow::default() }
    }

    #[test]
    fn a_sound_run_has_none() {
        let summary =
            Summary { questions: 624, chunkers: vec![chunker("fixed", 250, Some(256))], ..Summary::default() };
        assert!(warnings(&View::new(&summary)).is_empty());
    }

    #[test]
    fn what_was_left_out_of_the_data_is_counted() {
        let of = |left_out: usize| {
            let summary = Summary { questions: 624, left_out, ..Summary::default() };
            warnings(&View::new(&summary)).join("\n").replace('\u{a0}', " ")
        };
        assert_eq!(of(0), "");
        assert!(of(1).starts_with("1 part of the data") && of(1).contains("and was left out"), "{}", of(1));
        assert!(of(3).starts_with("3 parts of the data") && of(3).contains("and were left out"), "{}", of(3));
    }

    #[test]
    fn a_lexical_judge_is_called_one() {
        let mut report = Report::default();
        report.run.config = serde_json::json!({"judge": {"kind": "lexical"}});
        assert!(of_report(&report, &View::new(&report.summary)).is_empty());
        report.summary.comparisons.push(Comparison { metric: "judge".into(), ..Comparison::default() });
        assert!(of_report(&report, &View::new(&report.summary)).join(" ").contains("lexical"));
    }

    #[test]
    fn few_documents_are_said_plainly() {
        let of = |documents: usize| {
            let primary = PrimaryRecord { documents, ..PrimaryRecord::default() };
            let verdict = Some(Verdict { primary, ..Verdict::default() });
            warnings(&View::new(&Summary { questions: 624, failed: 2, verdict, ..Summary::default() })).join("\n")
        };
        assert!(of(9).contains("With fewer than 10 no interval and no p-value here can be trusted"), "{}", of(9));
        assert!(!of(10).contains("trusted") && of(10).contains("scores the worst value"), "{}", of(10));
    }

    #[test]
    fn passages_from_nowhere_are_counted() {
        let of = |found: &[(u64, u64)]| {
            let row = |&(passages, unplaced): &(u64, u64)| ChunkerRow {
                retriever: Some(RetrieverRow { passages, unplaced }),
                ..chunker(&format!("r{passages}"), 9, Some(256))
            };
            let chunkers = found.iter().map(row).collect();
            let summary = Summary { questions: 624, chunkers, ..Summary::default() };
            warnings(&View::new(&summary)).join("\n").replace('\u{a0}', " ")
        };
        assert_eq!(of(&[(9, 0), (0, 0)]), "");
        let found = of(&[(9, 3), (8, 0), (1234, 1)]);
        assert!(
            found.contains(
                "in no document of the data: r9 (3 of 9 passages, 33.3 %) and r1234 (1 of 1,234 passages, 0.1 %)."
            ),
            "{found}"
        );
        // A damaged file may count anything.
        assert!(of(&[(0, 2)]).contains("r0 (2 of 0 passages)"), "{}", of(&[(0, 2)]));
    }

    #[test]
    fn what_leaves_a_part_of_the_budget_unused_is_named() {
        let by = |budget_rule: Option<BudgetRule>, tokens: [f64; 2]| {
            let cell = |name: &str, context_tokens: f64| Cell {
                chunker: name.into(),
                mode: "bm25".into(),
                cutoff: Cutoff::Tokens(1024),
                context_tokens,
                ..Cell::default()
            };
            let primary = PrimaryRecord {
                mode: "bm25".into(),
                cutoff: Cutoff::Tokens(1024),
                documents: 50,
                ..PrimaryRecord::default()
            };
            let summary = Summary {
                questions: 624,
                chunkers: vec![chunker("fixed", 250, Some(256)), chunker("mine", 20, Some(256))],
                cells: vec![cell("fixed", tokens[0]), cell("mine", tokens[1])],
                verdict: Some(Verdict { primary, ..Verdict::default() }),
                budget_rule,
                ..Summary::default()
            };
            warnings(&View::new(&summary)).join("\n").replace('\u{a0}', " ")
        };
        let of = |tokens: [f64; 2]| by(Some(BudgetRule::Fill), tokens);
        let short = of([1023.0, 412.0]);
        assert!(short.contains("because their rankings end before: mine"), "{short}");
        // Whole chunks leave a rest, whatever stands below them in the ranking.
        for rule in [Some(BudgetRule::Whole), None] {
            let whole = by(rule, [1023.0, 412.0]);
            assert!(whole.contains("because their next chunk does not fit into it or their rankings end"), "{whole}");
        }
        assert!(short.contains("Of a budget of 1,024 tokens") && short.contains("mine (412 on average)"), "{short}");
        assert!(!of([1023.0, 990.0]).contains("budget of 1,024"), "{}", of([1023.0, 990.0]));
        // All end early where the corpus is small: that is equal.
        assert!(!of([61.0, 60.0]).contains("budget of 1,024"));
    }

    #[test]
    fn a_pair_without_any_difference_has_no_smallest_one() {
        let of = |detectable: f64| {
            let comparison = Comparison {
                a: "b".into(),
                b: "a".into(),
                metric: "span_recall".into(),
                detectable,
                ..Comparison::default()
            };
            let summary = Summary {
                questions: 20,
                chunkers: vec![chunker("a", 9, Some(256)), chunker("b", 9, Some(256))],
                cells: ["a", "b"]
                    .map(|name| Cell {
                        chunker: name.into(),
                        metrics: [("span_recall".into(), 0.5)].into(),
                        ..Cell::default()
                    })
                    .into(),
                comparisons: vec![comparison],
                ..Summary::default()
            };
            warnings(&View::new(&summary)).join("\n")
        };
        assert!(of(0.1).contains("would most likely go unseen"), "{}", of(0.1));
        assert!(of(0.0).contains("lie far apart.") && !of(0.0).contains("unseen"), "{}", of(0.0));
    }

    #[test]
    fn each_cause_has_its_own() {
        let summary = Summary {
            questions: 50,
            failed: 3,
            chunkers: vec![
                ChunkerRow { truncated: 12, chunks: 40, ..chunker("kamradt", 9_000, None) },
                chunker("odd", 300, Some(256)),
            ],
            ..Summary::default()
        };
        let found = warnings(&View::new(&summary)).join("\n").replace('\u{a0}', " ");
        for part in [
            "3 items have no result",
            "50 questions",
            "kamradt (longest chunk 9,000 tokens)",
            "limit of 256",
            "kamradt (12 of 40 chunks)",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }
}
