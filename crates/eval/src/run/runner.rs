use std::collections::BTreeMap;
use std::path::Path;

use pericope_store::Mode;

use super::cut::Cut;
use super::found::Hit;
use super::retrieve::{self, Ranking};
use super::{Corpus, Observer, RunError, Setup, judge_checks, score};
use crate::answer::{
    Asked, Context, Extractive, ExtractiveOptions, Generated, Generator, Judge, JudgeRequest, Missing, Passage, Request,
};
use crate::cell::{Cutoff, Setting};
use crate::config::{Experiment, GeneratorKind};
use crate::data::Question;
use crate::metric::Metric;
use crate::metrics::answers::AnswerScores;
use crate::record::{Cell, ChunkerRow, Item, Metrics, QueryTimes, Status};
use crate::stats;

/// What all chunkers are measured with.
pub(super) struct Runner<'a> {
    experiment: &'a Experiment,
    setup: &'a Setup<'a>,
    corpus: &'a Corpus,
    pub(super) cutoffs: Vec<Cutoff>,
    reader: Option<Extractive>,
    asked: Vec<Asked>,
    vectors: Option<pericope_api::Embeddings>,
    scorer: score::Scorer<'a>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(experiment: &'a Experiment, setup: &'a Setup<'a>, corpus: &'a Corpus) -> Result<Self, RunError> {
        let retrieval = &experiment.retrieval;
        let cutoffs = retrieval.cutoffs();
        let vectors = match &setup.encoder {
            Some(encoder) => {
                let texts: Vec<&str> = corpus.set.questions.iter().map(|q| q.text.as_str()).collect();
                Some(encoder.encode(&texts)?)
            }
            None => None,
        };
        // Its sentence vectors also serve the lexical judge where a model answers.
        let reader = (experiment.answer.generator != GeneratorKind::None)
            .then(|| Extractive::new(corpus.documents.clone(), setup.encoder.clone(), ExtractiveOptions::default()));
        let asked = match &reader {
            Some(reader) => (corpus.set.questions.iter().enumerate())
                .map(|(i, q)| reader.ask(&q.text, vectors.as_ref().map(|v| v.row(i).to_vec())))
                .collect(),
            None => Vec::new(),
        };
        let scorer = score::Scorer::new(corpus, experiment.judge.kind.lexical_metric());
        Ok(Self { experiment, setup, corpus, cutoffs, reader, asked, vectors, scorer })
    }

    /// Asks the judges what they must know; without answers there is nothing to judge.
    pub(super) fn check_judge(&mut self) -> Result<(), RunError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        if self.experiment.judge.kind.lexical_metric().is_some() {
            judge_checks::lexical(self.corpus, &self.scorer, reader)?;
        }
        match &self.setup.models.judge {
            Some(judge) => judge_checks::asked(self.corpus, judge.as_ref()),
            None => Ok(()),
        }
    }

    /// Indexes one chunker's chunks and measures every mode and setting; `take` gets the items of each mode as soon as they
    /// are there.
    pub(super) fn chunker(
        &mut self,
        cut: &Cut,
        out: &Path,
        observer: &dyn Observer,
        take: &mut dyn FnMut(Vec<Item>) -> Result<(), RunError>,
    ) -> Result<ChunkerRow, RunError> {
        let depth = self.depth();
        let (rankings, built) = retrieve::all(
            cut,
            self.corpus,
            self.setup,
            &self.experiment.retrieval,
            self.vectors.as_ref(),
            depth,
            out,
            observer,
        )?;
        let mut row = cut.row(&built);
        for ranking in &rankings {
            let times = QueryTimes { p50_ms: ranking.percentile_ms(0.5), p95_ms: ranking.percentile_ms(0.95) };
            row.query_times.insert(ranking.mode.clone(), times);
        }
        for ranking in &rankings {
            take(self.mode(cut, ranking, observer)?)?;
        }
        Ok(row)
    }

    /// How deep a ranking must be: for a budget, a good many small chunks.
    fn depth(&self) -> usize {
        let k = self.cutoffs.iter().filter_map(|cutoff| cutoff.k()).max().unwrap_or(0);
        let budget = self.cutoffs.iter().filter_map(|cutoff| cutoff.tokens()).max().unwrap_or(0);
        k.max((budget / 8).min(200))
    }

    fn mode(&mut self, cut: &Cut, ranking: &Ranking, observer: &dyn Observer) -> Result<Vec<Item>, RunError> {
        let questions = &self.corpus.set.questions;
        observer.stage(&format!("{}: {} answers", cut.name, ranking.mode), questions.len() * self.cutoffs.len());
        let picked: Vec<Vec<Vec<&Hit>>> = (self.cutoffs.iter())
            .map(|cutoff| {
                let pick = |hits: &'_ Vec<Hit>| retrieve::pick(hits, cut, *cutoff);
                ranking.hits.iter().map(|hits| pick(hits).into_iter().filter_map(|at| hits.get(at)).collect()).collect()
            })
            .collect();
        let context = |hit: &&Hit| Context { document: hit.document, span: cut.chunk(hit).span };
        if let Some(reader) = &mut self.reader {
            let widest: Vec<Context> = picked.iter().flatten().flatten().map(context).collect();
            reader.warm(widest.iter())?;
            let places = questions.iter().flat_map(|q| q.gold.iter().map(|&span| (q.document, span)));
            let gold: Vec<Context> = places.map(|(document, span)| Context { document, span }).collect();
            reader.warm(gold.iter())?;
        }
        let problems = self.problems(cut, ranking);
        let mut items = Vec::with_capacity(questions.len() * self.cutoffs.len());
        for (cutoff, picked) in self.cutoffs.iter().zip(&picked) {
            let setting = Setting { mode: ranking.mode.clone(), cutoff: *cutoff };
            let answers = self.answers(cut, picked, &problems, observer)?;
            for (q, (answer, hits)) in answers.into_iter().zip(picked).enumerate() {
                items.push(match answer {
                    Ok(answer) => self.scorer.item(q, cut, &setting, hits, answer),
                    Err(problem) => self.scorer.failed(q, cut, &setting, problem),
                });
            }
            if self.generator().is_none() {
                observer.advance(questions.len());
            }
        }
        if let Some(judge) = &self.setup.models.judge {
            observer.stage(&format!("{}: {} judgements", cut.name, ranking.mode), items.len());
            judged(judge.as_ref(), &mut items, &|| observer.advance(1))?;
        }
        Ok(items)
    }

    /// Why questions cannot be answered, whatever the setting.
    fn problems(&self, cut: &Cut, ranking: &Ranking) -> Vec<Option<String>> {
        let of_question = |(q, question): (usize, &Question)| {
            let cutting = || cut.failure(question.places().map(|(document, _)| document)).map(str::to_owned);
            ranking.failed.get(&q).cloned().or_else(cutting)
        };
        self.corpus.set.questions.iter().enumerate().map(of_question).collect()
    }

    /// What makes the answers, if anything does.
    fn generator(&self) -> Option<&dyn Generator> {
        match &self.setup.models.generator {
            Some(generator) => Some(generator.as_ref()),
            None => self.reader.as_ref().map(|reader| reader as &dyn Generator),
        }
    }

    /// An answer with its scores for each question (none where none is asked for), or why there is none.
    #[allow(clippy::type_complexity)]
    fn answers(
        &self,
        cut: &Cut,
        picked: &[Vec<&Hit>],
        problems: &[Option<String>],
        observer: &dyn Observer,
    ) -> Result<Vec<Result<Option<(Generated, AnswerScores)>, String>>, RunError> {
        let questions = &self.corpus.set.questions;
        let Some(generator) = self.generator() else {
            return Ok(problems.iter().map(|problem| problem.clone().map_or(Ok(None), Err)).collect());
        };
        let open: Vec<usize> = (0..questions.len()).filter(|&q| problems[q].is_none()).collect();
        observer.advance(questions.len() - open.len());
        let given: Vec<(Vec<Context>, Vec<Passage<'_>>)> = (open.iter().map(|&q| &picked[q]))
            .map(|hits| hits.iter().map(|hit| self.given(cut, hit)).unzip())
            .collect();
        let requests: Vec<Request<'_>> = (open.iter().zip(&given))
            .map(|(&q, (contexts, passages))| Request {
                question: &questions[q].text,
                asked: &self.asked[q],
                contexts,
                passages,
            })
            .collect();
        let mut answered = collect_results(generator.answer_all(&requests, &|| observer.advance(1)))?;
        let free: Vec<&str> = (answered.iter().flatten())
            .filter(|generated| generated.is_free_text())
            .map(|generated| generated.text.as_str())
            .collect();
        let mut vectors = match &self.reader {
            Some(reader) => reader.text_vectors(&free)?.into_iter(),
            None => Vec::new().into_iter(),
        };
        let mut found: Vec<Result<_, String>> =
            problems.iter().map(|problem| problem.clone().map_or(Ok(None), Err)).collect();
        for (&q, answer) in open.iter().zip(answered.drain(..)) {
            found[q] = answer.map(|generated| {
                let vector = if generated.is_free_text() { vectors.next().flatten() } else { None };
                let scores = self.scorer.answer(q, &generated, self.reader.as_ref(), vector.as_deref());
                Some((generated, scores))
            });
        }
        Ok(found)
    }

    /// A hit as generators get it.
    fn given<'c>(&'c self, cut: &'c Cut, hit: &Hit) -> (Context, Passage<'c>) {
        let chunk = cut.chunk(hit);
        let document = &self.corpus.documents[hit.document];
        let passage =
            Passage { document: &document.id, heading_path: &chunk.heading_path, text: document.text(chunk.span) };
        (Context { document: hit.document, span: chunk.span }, passage)
    }

    /// Means by mode and setting; failed items are counted, and are no part of a mean.
    pub(super) fn cells(&self, row: &ChunkerRow, items: &[Item]) -> Vec<Cell> {
        let of_setting = |setting: Setting| {
            let here: Vec<&Item> = items.iter().filter(|item| item.is_at(&setting)).collect();
            cell(row, setting, &here, self.experiment.data.seed)
        };
        self.settings().into_iter().map(of_setting).collect()
    }

    /// Every mode at every cutoff, in the order of the configuration.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let of_mode = |mode: &Mode| {
            let mode = mode.to_string();
            self.cutoffs.iter().map(move |&cutoff| Setting { mode: mode.clone(), cutoff })
        };
        self.experiment.retrieval.modes.iter().flat_map(of_mode).collect()
    }
}

/// Item failures stay with their items; what concerns all of them ends the run.
fn collect_results<T>(results: Vec<Result<T, Missing>>) -> Result<Vec<Result<T, String>>, RunError> {
    (results.into_iter())
        .map(|result| match result {
            Ok(value) => Ok(Ok(value)),
            Err(Missing::Item(problem)) => Ok(Err(problem)),
            Err(Missing::Run(problem)) => Err(RunError::Stopped(problem)),
        })
        .collect()
}

/// Has the answers judged; an answer that cannot be judged makes its item a failed one.
fn judged(judge: &dyn Judge, items: &mut [Item], done: &(dyn Fn() + Sync)) -> Result<(), RunError> {
    let open: Vec<usize> = (items.iter().enumerate())
        .filter(|(_, item)| item.status == Status::Ok && item.answer.is_some() && !item.gold.text.is_empty())
        .map(|(at, _)| at)
        .collect();
    let asked: Vec<JudgeRequest<'_>> = (open.iter().map(|&at| &items[at]))
        .map(|item| {
            let answer = item.answer.as_ref().map_or("", |answer| answer.text.as_str());
            let read = item.retrieved.len() - item.dropped.min(item.retrieved.len());
            let context = item.retrieved.iter().take(read).map(|chunk| chunk.text.as_str()).collect();
            JudgeRequest { question: &item.question, gold: &item.gold.text, answer, context }
        })
        .collect();
    let results = collect_results(judge.judge_all(&asked, done))?;
    for (at, result) in open.into_iter().zip(results) {
        let item = &mut items[at];
        match result {
            Ok(judged) => {
                let more = [("faithfulness", judged.faithfulness), ("context_relevance", judged.context_relevance)];
                let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
                for (name, value) in [("judge", judged.judgement.score)].into_iter().chain(more) {
                    item.metrics.insert(Metric::named(name), value);
                }
                item.judgement = Some(judged.judgement);
                *item.cost.get_or_insert_default() += judged.cost;
            }
            Err(problem) => {
                item.status = Status::Failed;
                item.error = Some(format!("no judgement: {problem}"));
            }
        }
    }
    Ok(())
}

/// The root of the mean variance of an item's votes.
fn judge_spread(items: &[&Item]) -> Option<f64> {
    let votes = items.iter().filter_map(|item| Some(&item.judgement.as_ref()?.votes)).filter(|votes| votes.len() > 1);
    let variances: Vec<f64> = votes
        .map(|votes| {
            let mean = votes.iter().sum::<f64>() / votes.len() as f64;
            votes.iter().map(|vote| (vote - mean).powi(2)).sum::<f64>() / (votes.len() - 1) as f64
        })
        .collect();
    (!variances.is_empty()).then(|| (variances.iter().sum::<f64>() / variances.len() as f64).sqrt())
}

fn cell(row: &ChunkerRow, setting: Setting, items: &[&Item], seed: u64) -> Cell {
    let done: Vec<&&Item> = items.iter().filter(|i| i.status == Status::Ok).collect();
    let mut sums: BTreeMap<&Metric, (f64, usize)> = BTreeMap::new();
    for item in &done {
        for (name, value) in &item.metrics {
            let entry = sums.entry(name).or_default();
            entry.0 += value;
            entry.1 += 1;
        }
    }
    let metrics: Metrics = sums.into_iter().map(|(metric, (sum, n))| (metric.clone(), sum / n as f64)).collect();
    let intervals = (Metric::compared().iter())
        .filter_map(|metric| {
            let values: Vec<f64> = done.iter().filter_map(|item| item.metrics.get(metric).copied()).collect();
            let (low, high) = stats::bootstrap_interval(&values, seed);
            (values.len() > 1).then(|| (metric.clone(), [low, high]))
        })
        .collect();
    // Items of an earlier session come out of a file, which may say anything.
    let tokens: f64 = done.iter().map(|i| i.context_tokens as f64).sum();
    Cell {
        chunker: row.name.clone(),
        cutoff: setting.cutoff,
        context_tokens: if done.is_empty() { 0.0 } else { tokens / done.len() as f64 },
        failed: items.len() - done.len(),
        metrics,
        intervals,
        query_p50_ms: row.query_times.get(&setting.mode).and_then(|t| t.p50_ms),
        query_p95_ms: row.query_times.get(&setting.mode).and_then(|t| t.p95_ms),
        cost: items.iter().filter_map(|item| item.cost).reduce(|mut sum, cost| {
            sum += cost;
            sum
        }),
        judge_spread: judge_spread(items),
        mode: setting.mode,
    }
}
