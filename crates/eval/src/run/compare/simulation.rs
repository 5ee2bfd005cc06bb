//! How often a run without any difference decides one, through all that a run works out.
#![allow(clippy::unwrap_used)]

#[path = "../../../tests/it/simulated.rs"]
mod simulated;

use self::simulated::{CHUNKERS, DOCUMENTS, SETTINGS, at_most, differences, sample};
use super::*;
use crate::cell::Cutoff;
use crate::record::{Gold, Item};

/// Everything that a run compares of a sample without a difference: 12 chunkers at 8 settings, the first of which decides.
fn whole(number: usize) -> Compared {
    run(number, CHUNKERS, SETTINGS)
}

/// The same of its first chunkers at its first settings.
fn run(number: usize, chunkers: usize, settings: usize) -> Compared {
    let (documents, scores) = sample(number, DOCUMENTS, settings, 0.0);
    let settings: Vec<Setting> =
        (1..=settings).map(|k| Setting { mode: "bm25".into(), cutoff: Cutoff::K(k) }).collect();
    let rows: Vec<ChunkerRow> =
        (0..chunkers).map(|at| ChunkerRow { name: format!("chunker {at}"), ..ChunkerRow::default() }).collect();
    let mut items = Scores::new(std::iter::empty::<&str>());
    for (setting, of_setting) in settings.iter().zip(&scores) {
        for (row, scores) in rows.iter().zip(of_setting) {
            for (question, (score, document)) in scores.iter().zip(&documents).enumerate() {
                items.add(Item {
                    question_id: format!("q{question}"),
                    chunker: row.name.clone(),
                    mode: setting.mode.clone(),
                    cutoff: setting.cutoff,
                    gold: Gold { document: format!("d{document}"), ..Gold::default() },
                    metrics: [(Metric::SPAN_RECALL, *score)].into(),
                    ..Item::default()
                });
            }
        }
    }
    let decision = Decision {
        baseline: rows[0].name.clone(),
        metric: Metric::SPAN_RECALL,
        setting: settings[0].clone(),
        margin: 0.02,
    };
    let plan = Plan { chunkers: &rows, settings: &settings, decision: &decision, seed: number as u64 };
    all(&items, &plan, &mut [])
}

/// The p-values of the primary family of the same sample after correction, and nothing else of the run.
fn corrected(number: usize) -> Vec<f64> {
    let (documents, scores) = sample(number, DOCUMENTS, 1, 0.0);
    let most = stats::resamples_for(CHUNKERS - 1, ALPHA);
    let p = scores[0][1..].iter().map(|of| {
        let clustered = Clustered::new(&differences(of, &scores[0][0]), &documents).unwrap();
        stats::permutation_p(clustered.sums(), most, number as u64)
    });
    stats::holm(&p.collect::<Vec<f64>>())
}

/// A run decides only where p is below 0.05 after correction, so that is counted: in 2,400 samples, since the bound is then
/// 6.4 %, and they take some seconds on two cores. A whole run takes far longer, most of it for the 517 comparisons that
/// decide nothing: four are made, two in which something is claimed and two in which nothing is, to see that a run has the
/// same p-values, and decides by nothing else.
#[test]
fn a_run_without_a_difference_claims_one_in_at_most_5_of_100() {
    const SAMPLES: usize = 2_400;
    let claims: Vec<bool> = (0..SAMPLES).into_par_iter().map(|at| corrected(at).iter().any(|p| *p < ALPHA)).collect();
    let found = claims.iter().filter(|claims| **claims).count() as f64 / SAMPLES as f64;
    println!("family-wise error: {found}, bound {}", at_most(0.05, SAMPLES));
    assert!(found <= at_most(0.05, SAMPLES), "{found}");
    let of = |wanted: bool| (0..SAMPLES).filter(|at| claims[*at] == wanted).take(2).collect::<Vec<usize>>();
    let (with, without) = (of(true), of(false));
    assert_eq!((with.len(), without.len()), (2, 2));
    for at in with.into_iter().chain(without) {
        let run = whole(at);
        let (primary, rest): (Vec<&Comparison>, Vec<&Comparison>) =
            run.comparisons.iter().partition(|c| c.family == Some(Family::Primary));
        assert_eq!(
            (primary.len(), rest.len()),
            (CHUNKERS - 1, CHUNKERS * (CHUNKERS - 1) / 2 * SETTINGS - (CHUNKERS - 1))
        );
        assert_eq!(primary.iter().filter_map(|c| c.p_holm).collect::<Vec<f64>>(), corrected(at), "sample {at}");
        assert!(rest.iter().all(|c| c.outcome.is_none() && c.p_holm.is_none()), "sample {at}");
        let decided = |c: &&&Comparison| matches!(c.outcome, Some(Outcome::Better | Outcome::Worse));
        let decided: Vec<&&Comparison> = primary.iter().filter(decided).collect();
        assert!(decided.iter().all(|c| c.p_holm.is_some_and(|p| p < ALPHA)), "sample {at}: {decided:?}");
        assert!(claims[at] || decided.is_empty(), "sample {at}: {decided:?}");
    }
}

/// With two chunkers a single comparison decides, and the set of those that may be the best, which works at 10 %, leaves one
/// out in twice as many samples as the comparison shows a difference: only what the comparison shows may be claimed. The
/// set's p-value is that of the comparison but for other patterns of signs, so a run whose p-value is above 0.15 names both.
#[test]
fn a_run_of_two_without_a_difference_names_a_winner_in_at_most_5_of_100() {
    const SAMPLES: usize = 2_400;
    let p_of_two = |number: usize| {
        let (documents, scores) = sample(number, DOCUMENTS, 1, 0.0);
        let clustered = Clustered::new(&differences(&scores[0][1], &scores[0][0]), &documents).unwrap();
        stats::permutation_p(clustered.sums(), stats::RESAMPLES, number as u64)
    };
    let near: Vec<usize> = (0..SAMPLES).into_par_iter().filter(|at| p_of_two(*at) < 0.15).collect();
    let verdicts: Vec<Verdict> = near.into_par_iter().map(|at| run(at, 2, 1).verdict.unwrap()).collect();
    let share = |of: &dyn Fn(&Verdict) -> bool| verdicts.iter().filter(|v| of(v)).count() as f64 / SAMPLES as f64;
    let alone = share(&|verdict: &Verdict| verdict.possible.len() == 1);
    let found = share(&|verdict: &Verdict| verdict.sentence.contains("the only one of"));
    println!("one left: {alone}, claimed: {found}, bound {}", at_most(0.05, SAMPLES));
    assert!(alone > at_most(0.05, SAMPLES), "else nothing is tried here: {alone}");
    assert!(found > 0.0 && found <= at_most(0.05, SAMPLES), "{found}");
    let wins =
        |verdict: &Verdict| verdict.sentence.contains(", take ") && !verdict.sentence.contains("no difference that");
    assert_eq!(share(&wins), found, "nothing else is a claim");
}
