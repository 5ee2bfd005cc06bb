//! Language models as generator and judge.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pericope_api::SpanReader;
use pericope_llm::judge::Better;
use pericope_llm::{
    Budget, Client, LlmConfig, LlmContextWriter, LlmError, LlmGenerator, LlmJudge, LlmShiftFinder, Shared,
    map_concurrent,
};
use pericope_segment::llm::LanguageModel;

use super::{Generated, Generator, Judge, JudgeRequest, Judged, Missing, PairJudge, PairJudged, PairRequest, Request};
use crate::asking::{Asking, segmenter_config};
use crate::config::{Experiment, GeneratorKind};
use crate::record::{Cost, Judgement, Preference};
use crate::retriever::Finder;

/// The line of the response cache's ledger that a run spends from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    name: String,
    continues: bool,
}

impl Ledger {
    /// The line of a run whose files go into `folder`; that of a sweep serves all its variants. `continues`: what was spent
    /// before counts against the budget, else the line begins with nothing.
    #[must_use]
    pub fn of_run(experiment: &Experiment, folder: &Path, continues: bool) -> Self {
        let mut name = experiment.name.clone();
        // A cache of its own lies in the folder, and may be moved with it. One that several folders share tells them apart.
        if experiment.llm.cache.is_some() {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            name.push_str(&format!(" in {}", folder.display()));
        }
        Self { name, continues }
    }

    /// The line of the night of this number: all sittings of a night spend from it, and no other night does.
    #[must_use]
    pub fn of_night(experiment: &Experiment, history: &Path, number: u32) -> Self {
        let Self { name, .. } = Self::of_run(experiment, history, true);
        Self { name: format!("{name}, night {number}"), continues: true }
    }

    /// As it is, with what was spent before.
    #[must_use]
    pub fn continued(self) -> Self {
        Self { continues: true, ..self }
    }
}

/// The models of an experiment, ready to be asked.
#[derive(Default)]
pub struct Models {
    /// What answers, where a model does.
    pub generator: Option<Arc<dyn Generator>>,
    /// Reads spans, where a `generator` is `cogltx` or a retriever `memrecall` asks for it: the caller brings it
    /// ([`Experiment::reads_spans`]).
    pub reader: Option<Arc<dyn SpanReader>>,
    /// Retrievers with the spec `custom`, by their names: the caller brings them.
    pub finders: BTreeMap<String, Arc<dyn Finder>>,
    /// What judges, where a model does; the caller brings it where `judge.kind = "custom"`.
    pub judge: Option<Arc<dyn Judge>>,
    /// What compares answers pair by pair, where a model does.
    pub pairs: Option<Arc<dyn PairJudge>>,
    /// What segmenters and contexts ask, where any do.
    pub asking: Option<Arc<Asking>>,
    /// The prompt templates of all, by name.
    pub prompts: BTreeMap<String, String>,
    /// SHA-256 of the weights that lie on this machine, by the table of the configuration that names them.
    pub checksums: BTreeMap<String, String>,
    /// What they have spent, and may spend.
    pub budget: Option<Arc<Budget>>,
    /// Whether their caches alone are asked.
    pub offline: bool,
}

impl Models {
    /// Opens the models that `experiment` asks, with their response cache (by default in the run's folder `out`).
    /// `offline`: only the cache is asked, and no key is needed. What they spend is written into the `ledger`.
    ///
    /// # Errors
    /// In one line: a prompt, a key or a model that is not there, a cache that cannot be opened.
    pub fn open(experiment: &Experiment, out: &Path, offline: bool, ledger: &Ledger) -> Result<Self, LlmError> {
        let mut models = Self { offline, ..Self::default() };
        let generates = experiment.is_answered_by(GeneratorKind::Llm);
        let judges = experiment.judge.kind.asks_model();
        let by_specs = experiment.asking_specs();
        let places = experiment.chunkers.iter().any(|chunker| experiment.adds_context(chunker));
        if !generates && !judges && !places && by_specs.is_empty() {
            return Ok(models);
        }
        let cache = experiment.llm.cache.clone().unwrap_or_else(|| out.join("responses.sqlite"));
        if let Some(folder) = cache.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|e| LlmError::Config(format!("cannot make {}: {e}", folder.display())))?;
        }
        let shared = Shared::for_run(&cache, experiment.limits.budget, offline, &ledger.name, ledger.continues)?;
        models.budget = Some(Arc::clone(&shared.budget));
        if let Some(config) = experiment.llm.generator.as_ref().filter(|_| generates) {
            let generator = ModelGenerator::new(config, &shared)?;
            models.prompts.insert("answer".to_owned(), generator.prompt().to_owned());
            models.checksums.extend(weights("llm.generator", generator.generator.client()));
            models.generator = Some(Arc::new(generator));
        }
        if let Some(config) = experiment.llm.judge.as_ref().filter(|_| judges) {
            let judge = Arc::new(ModelJudge::new(config, &experiment.judge, &shared)?);
            models.prompts.extend(judge.prompts());
            models.checksums.extend(weights("llm.judge", judge.judge.client()));
            if experiment.judge.pairwise {
                models.pairs = Some(judge.clone());
            }
            models.judge = Some(judge);
        }
        for (name, spec) in &by_specs {
            let wanted = LanguageModel::of(spec);
            let config = segmenter_config(&wanted, experiment.llm.segmenter.as_ref())?;
            let own = config.prompt.is_some() && wanted.config.is_some();
            let name = if own { format!("segmenter of {name}") } else { "segmenter".to_owned() };
            models.prompts.insert(name, LlmShiftFinder::prompt_of(&config)?.text().to_owned());
        }
        if let Some(config) = experiment.llm.context.as_ref().filter(|_| places) {
            models.prompts.insert("context".to_owned(), LlmContextWriter::prompt_of(config)?.text().to_owned());
        }
        if places || !by_specs.is_empty() {
            models.asking = Some(Arc::new(Asking::new(&experiment.llm, shared)));
        }
        Ok(models)
    }
}

/// What identifies the weights of a model in this process, which its provider read already; nothing of a service's.
fn weights(table: &str, client: &Client) -> Option<(String, String)> {
    let sha256 = client.provider().identity().get("sha256")?.as_str()?.to_owned();
    Some((table.to_owned(), sha256))
}

/// A model that answers from the retrieved passages.
pub struct ModelGenerator {
    generator: LlmGenerator,
    workers: usize,
}

impl ModelGenerator {
    /// The generator of `[llm.generator]`.
    ///
    /// # Errors
    /// In one line: a prompt, a key or a model that is not there.
    pub fn new(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        Ok(Self { generator: LlmGenerator::from_config(config, shared)?, workers: config.concurrency })
    }

    /// The prompt template as used.
    #[must_use]
    pub fn prompt(&self) -> &str {
        self.generator.prompt().text()
    }
}

impl Generator for ModelGenerator {
    fn answer_all(&self, requests: &[Request<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Generated, Missing>> {
        let results = map_concurrent(self.workers, requests, |_, request| {
            let texts: Vec<&str> = request.passages.iter().map(|passage| passage.text).collect();
            let answer = self.generator.answer(request.question, &texts);
            done();
            answer
        });
        missing(results, |answer| Generated {
            // What the model says instead of an answer is no answer: it counts as an empty one, not as a failure.
            text: if answer.abstained { String::new() } else { answer.text },
            place: None,
            dropped: answer.dropped,
            cost: Some(cost(&answer.spent)),
        })
    }
}

/// A model that scores answers against the gold answer.
pub struct ModelJudge {
    judge: LlmJudge,
    workers: usize,
    faithfulness: bool,
    context_relevance: bool,
    pairwise: bool,
}

impl ModelJudge {
    /// The judge of `[llm.judge]`, asked `votes` times an answer; with the optional judgements on the context.
    ///
    /// # Errors
    /// As [`ModelGenerator::new`].
    pub fn new(config: &LlmConfig, judge: &crate::config::JudgeConfig, shared: &Shared) -> Result<Self, LlmError> {
        let votes = u32::try_from(judge.votes).unwrap_or(u32::MAX);
        Ok(Self {
            judge: LlmJudge::from_config(config, votes, shared)?,
            workers: config.concurrency,
            faithfulness: judge.faithfulness,
            context_relevance: judge.context_relevance,
            pairwise: judge.pairwise,
        })
    }

    /// The prompt templates as used, by name.
    #[must_use]
    pub fn prompts(&self) -> Vec<(String, String)> {
        let wanted = [
            ("judge", true),
            ("faithfulness", self.faithfulness),
            ("context relevance", self.context_relevance),
            ("pairwise", self.pairwise),
        ];
        (wanted.into_iter().zip(self.judge.prompts()))
            .filter(|((_, asked), _)| *asked)
            .map(|((name, _), prompt)| (name.to_owned(), prompt.text().to_owned()))
            .collect()
    }

    fn one(&self, asked: &JudgeRequest<'_>) -> Result<Judged, LlmError> {
        let judged = self.judge.judge(asked.question, asked.gold, asked.answer)?;
        let mut spent = cost(&judged.spent);
        let (mut faithfulness, mut context_relevance) = (None, None);
        if self.faithfulness
            && !asked.context.is_empty()
            && !asked.answer.is_empty()
            && let Some(found) = optional(self.judge.faithfulness(asked.answer, &asked.context))?
        {
            spent += cost(&found.spent);
            faithfulness = found.share;
        }
        if self.context_relevance
            && !asked.context.is_empty()
            && let Some(found) = optional(self.judge.relevance(asked.question, &asked.context))?
        {
            spent += cost(&found.spent);
            context_relevance = found.share;
        }
        Ok(Judged {
            judgement: Judgement {
                score: judged.mean,
                reason: judged.votes.first().map(|vote| vote.reason.clone()).unwrap_or_default(),
                votes: judged.votes.iter().map(|vote| f64::from(vote.score)).collect(),
                failed_votes: judged.failed.len(),
            },
            faithfulness,
            context_relevance,
            cost: Some(spent),
        })
    }
}

impl Judge for ModelJudge {
    fn judge_all(&self, answers: &[JudgeRequest<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Judged, Missing>> {
        let results = map_concurrent(self.workers, answers, |_, asked| {
            let judged = self.one(asked);
            done();
            judged
        });
        missing(results, |judged| judged)
    }
}

impl PairJudge for ModelJudge {
    fn compare_all(&self, pairs: &[PairRequest<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<PairJudged, Missing>> {
        let results = map_concurrent(self.workers, pairs, |_, pair| {
            let compared = self.judge.compare(pair.question, pair.gold, pair.answer, pair.baseline);
            done();
            compared
        });
        missing(results, |compared| PairJudged {
            first: preference(compared.straight),
            second: preference(compared.swapped),
            cost: cost(&compared.spent),
            reason: compared.reason,
        })
    }
}

/// A verdict on the chunker's answer, which is the first of the two.
fn preference(better: Better) -> Preference {
    match better {
        Better::First => Preference::Win,
        Better::Tie => Preference::Tie,
        Better::Second => Preference::Loss,
    }
}

/// A further judgement on an answer that has its score, which is paid for: without it the item lacks that metric, and
/// nothing else.
fn optional<T>(asked: Result<T, LlmError>) -> Result<Option<T>, LlmError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.aborts_run() => Err(error),
        Err(_) => Ok(None),
    }
}

fn cost(spent: &pericope_llm::Spent) -> Cost {
    Cost {
        calls: spent.calls - spent.cached.min(spent.calls),
        cached: spent.cached,
        prompt_tokens: spent.prompt_tokens,
        completion_tokens: spent.completion_tokens,
        price: spent.cost,
        paid: spent.paid,
    }
}

/// The results in the run's terms: where the models stopped, every item that is left says why.
fn missing<R, T>(items: pericope_llm::BatchResult<R>, make: impl Fn(R) -> T) -> Vec<Result<T, Missing>> {
    let stopped = items.stopped.map(|error| error.to_string());
    (items.results.into_iter())
        .map(|result| match (result, &stopped) {
            (_, Some(reason)) => Err(Missing::Run(reason.clone())),
            (Some(Ok(value)), None) => Ok(make(value)),
            (Some(Err(error)), None) => Err(Missing::Item(error.to_string())),
            (None, None) => Err(Missing::Item("it was not asked".to_owned())),
        })
        .collect()
}
