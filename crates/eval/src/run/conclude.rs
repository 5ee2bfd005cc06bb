//! The end of a run: what was measured is compared, and written down as finished.

use super::compare::{self, Compared, Plan};
use super::folder::RunFolder;
use super::gathered::Gathered;
use super::pairwise::Pairs;
use super::{Corpus, Observer, RunError, Setup, lines};
use crate::cell::Setting;
use crate::config::{Decision, Experiment};
use crate::record::{JudgeIdentity, PairwiseRow, RunRecord, Summary};

/// What a run was from its beginning.
pub(super) struct Whole<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) setup: &'a Setup<'a>,
    pub(super) corpus: &'a Corpus,
    pub(super) folder: &'a RunFolder,
    pub(super) observer: &'a dyn Observer,
}

impl Whole<'_> {
    /// Compares what was measured in these settings, and writes the record and the summary; `seconds` is what the run has
    /// taken by now.
    pub(super) fn conclude(
        &self,
        (settings, decision): (&[Setting], &Decision),
        mut gathered: Gathered<'_>,
        mut record: RunRecord,
        seconds: impl Fn() -> f64,
    ) -> Result<(Summary, RunRecord), RunError> {
        let plan = Plan { chunkers: &gathered.rows, settings, decision, seed: self.experiment.data.seed };
        let compared = compare::all(&gathered.scores, &plan, &mut gathered.cells);
        let pairwise = self.pairwise(&plan)?;
        let budget = self.setup.models.budget.as_ref();
        record.paid = budget.map(|budget| budget.spent()).filter(|&paid| paid > 0.0);
        record.paid_estimated = budget.map(|budget| budget.estimated()).filter(|&paid| paid > 0.0);
        record.finish(seconds());
        lines::write_json(&self.folder.record(), &record)?;
        gathered.check_file()?;
        let summary = self.summary(&record, gathered, compared, pairwise);
        lines::write_json(&self.folder.summary(), &summary)?;
        Ok((summary, record))
    }

    /// The chunkers' answers against the baseline's, where a model compares them.
    fn pairwise(&self, plan: &Plan<'_>) -> Result<Vec<PairwiseRow>, RunError> {
        let Some(judge) = &self.setup.models.pairs else { return Ok(Vec::new()) };
        let names: Vec<&str> = plan.chunkers.iter().map(|row| row.name.as_str()).collect();
        let pairs = Pairs {
            corpus: self.corpus,
            settings: plan.settings,
            chunkers: &names,
            baseline: &plan.decision.baseline,
            seed: plan.seed,
        };
        pairs.judge(judge.as_ref(), self.folder, self.observer)
    }

    fn summary(
        &self,
        record: &RunRecord,
        gathered: Gathered<'_>,
        compared: Compared,
        pairwise: Vec<PairwiseRow>,
    ) -> Summary {
        let Gathered { rows, cells, scores, .. } = gathered;
        let (questions, retrieval) = (&self.corpus.set, &self.experiment.retrieval);
        Summary {
            name: self.experiment.name.clone(),
            questions: questions.questions.len(),
            documents: self.corpus.documents.len(),
            failed: cells.iter().map(|cell| cell.failed).sum(),
            left_out: questions.left_out(),
            chunkers: rows,
            cells,
            comparisons: compared.comparisons,
            verdict: compared.verdict,
            budget_rule: Some(retrieval.budget_rule).filter(|_| !retrieval.token_budgets.is_empty()),
            judges: JudgeIdentity::of_run(&record.config, &record.checksums),
            pairwise,
            judges_agree: scores.agreement(),
        }
    }
}
