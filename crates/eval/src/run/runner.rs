//! Chunkers and retrievers measured, one after the other.

mod answers;
mod cells;
mod judging;

use std::path::Path;
use std::sync::Arc;

use pericope_api::Chunk;
use pericope_store::{Expand, Mode, expand};
use rayon::prelude::*;

use super::budget::{Cutter, hits_to_fill};
use super::cut::Cut;
use super::expand::Expanding;
use super::found::{Built, Given};
use super::retrieve::{Ranking, Search};
use super::{Corpus, Observer, RunError, Setup, foreign, judge_checks, rerank, score, trec};
use crate::answer::{Asked, BestPassage, Context, Extractive, ExtractiveOptions, SpanGenerator};
use crate::cell::{Cutoff, Setting};
use crate::config::{Experiment, GeneratorKind, RetrieverConfig, shown_reranker};
use crate::record::{AnswerTime, Cell, ChunkerRow, Item, QueryTimes};
use crate::retriever::Query;

use self::answers::place;
use self::cells::cell;
use self::judging::judged;

/// What all chunkers are measured with.
pub(super) struct Runner<'a> {
    experiment: &'a Experiment,
    setup: &'a Setup<'a>,
    corpus: &'a Corpus,
    pub(super) cutoffs: Vec<Cutoff>,
    reader: Option<Extractive>,
    /// The best passage as it is, where that is asked for.
    best: Option<BestPassage>,
    /// What reads spans, where that is asked for.
    spans: Option<SpanGenerator>,
    asked: Vec<Asked>,
    vectors: Option<pericope_api::Embeddings>,
    /// What was found in indexes that a later chunker shares.
    shared: Vec<Searched>,
    scorer: score::Scorer<'a>,
    /// How long the answers of the chunker that is at work took.
    answer_times: Vec<AnswerTime>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(experiment: &'a Experiment, setup: &'a Setup<'a>, corpus: &'a Corpus) -> Result<Self, RunError> {
        let retrieval = &experiment.retrieval;
        if let Some(missing) = experiment.rerankers().iter().find(|spec| !setup.rerankers.contains_key(**spec)) {
            let shown = shown_reranker(missing);
            return Err(RunError::Config(format!("the reranker `{shown}` of the experiment was not opened")));
        }
        let cutoffs = retrieval.cutoffs();
        let vectors = match &setup.encoder {
            Some(encoder) => {
                let texts: Vec<&str> = corpus.set.questions.iter().map(|q| q.text.as_str()).collect();
                Some(encoder.encode_queries(&texts)?.finite(encoder.name())?)
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
        let documents = || Arc::clone(&corpus.documents);
        let best = experiment.is_answered_by(GeneratorKind::Best).then(|| BestPassage::new(documents()));
        let spans = match (experiment.is_answered_by(GeneratorKind::Cogltx), &setup.models.reader) {
            (true, None) => {
                return Err(RunError::Config("generator = \"cogltx\" needs a reader, and none was brought".into()));
            }
            (true, Some(reader)) => Some(SpanGenerator::new(Arc::clone(reader), documents())),
            (false, _) => None,
        };
        let mut scorer = score::Scorer::new(corpus, experiment.judge.kind.lexical_metric());
        if setup.encoder.as_ref().is_some_and(|encoder| encoder.is_static()) {
            // They are means of token vectors, which all texts have in common.
            scorer = scorer.without_vectors();
        }
        Ok(Self {
            experiment,
            setup,
            corpus,
            cutoffs,
            reader,
            best,
            spans,
            asked,
            vectors,
            shared: Vec::new(),
            scorer,
            answer_times: Vec::new(),
        })
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
        let (mut rankings, built) = self.searched(cut, out, observer)?;
        if let Some((spec, depth)) = &cut.reranking
            && let Some(reranker) = self.setup.rerankers.get(spec)
        {
            for ranking in &mut rankings {
                rerank::all(cut, self.corpus, reranker.as_ref(), *depth, ranking, observer)?;
            }
        }
        if let Some(folder) = &self.setup.trec {
            trec::write(folder, cut, &rankings, &self.corpus.set.questions, &self.scorer)?;
        }
        let expanding = Expanding { documents: &self.corpus.documents, counter: self.setup.counter.as_ref(), cut };
        for ranking in &mut rankings {
            ranking.hits = ranking.hits.par_iter().map(|hits| expanding.expand(hits, &self.cutoffs)).collect();
        }
        for ranking in &rankings {
            take(self.mode(cut, ranking, &[], observer)?)?;
        }
        Ok(self.timed(cut.row(&built), &rankings))
    }

    /// Indexes a chunker's chunks and asks every question in every mode, if an earlier one with the same chunks did not.
    fn searched(&mut self, cut: &Cut, out: &Path, observer: &dyn Observer) -> Result<(Vec<Ranking>, Built), RunError> {
        let reads = (cut.prefix_headings, cut.late_chunking);
        let is_same = |one: &&Searched| Arc::ptr_eq(&one.chunks, &cut.chunks) && one.reads == reads;
        if let Some(found) = self.shared.iter().find(is_same) {
            return Ok((found.rankings.clone(), found.built));
        }
        let (corpus, setup, retrieval) = (self.corpus, self.setup, &self.experiment.retrieval);
        let search = Search { corpus, setup, retrieval, vectors: self.vectors.as_ref(), out, observer };
        let (rankings, built) = search.all(cut, self.depth(cut))?;
        if Arc::strong_count(&cut.chunks) > 1 {
            let chunks = Arc::clone(&cut.chunks);
            self.shared.push(Searched { chunks, reads, rankings: rankings.clone(), built });
        }
        Ok((rankings, built))
    }

    /// Whether a retriever of others can be opened; with `ask`, also whether it answers, by the first question.
    pub(super) fn check_retriever(&self, config: &RetrieverConfig, ask: bool) -> Result<(), RunError> {
        let first = self.corpus.set.questions.first().filter(|_| ask);
        let query = first.map(|question| Query {
            question: &question.text,
            k: foreign_depth(&self.cutoffs),
            vector: self.vectors.as_ref().map(|vectors| vectors.row(0)),
        });
        foreign::check(config, self.setup, query.as_ref())
    }

    /// Asks a retriever of others and measures what it finds as a chunker's is, under every mode: its ranking does not depend on them.
    pub(super) fn retriever(
        &mut self,
        config: &RetrieverConfig,
        observer: &dyn Observer,
        take: &mut dyn FnMut(Vec<Item>) -> Result<(), RunError>,
    ) -> Result<ChunkerRow, RunError> {
        let k = foreign_depth(&self.cutoffs);
        let mut asked = foreign::ask(config, self.corpus, self.setup, self.vectors.as_ref(), k, observer)?;
        asked.cut.generator = self.experiment.own_generator(config.generator);
        let modes = self.experiment.retrieval.modes.iter();
        let rankings: Vec<Ranking> =
            modes.map(|mode| Ranking { mode: mode.to_string(), ..asked.ranking.clone() }).collect();
        for ranking in &rankings {
            take(self.mode(&asked.cut, ranking, &asked.answers, observer)?)?;
        }
        let built = Built { seconds: 0.0, bytes: None, truncated: 0 };
        Ok(self.timed(ChunkerRow { retriever: Some(asked.row), ..asked.cut.row(&built) }, &rankings))
    }

    /// How deep a ranking must be: for a budget, as many chunks as fill it however small they are.
    fn depth(&self, cut: &Cut) -> usize {
        let k = self.cutoffs.iter().filter_map(|cutoff| cutoff.k()).max().unwrap_or(0);
        // All chunkers alike: where lists are joined, their order depends on how deep they are.
        let expands = self
            .experiment
            .chunkers
            .iter()
            .any(|chunker| self.experiment.retrieval.expansion(chunker.expand).expand != Expand::None);
        let k = if expands { expand::depth(k) } else { k };
        let own = self.experiment.chunkers.iter().map(|chunker| chunker.rerank.as_deref());
        let scored = own.filter_map(|own| self.experiment.retrieval.reranking(own)).map(|reranking| reranking.depth);
        let k = scored.fold(k, usize::max);
        let budget = self.cutoffs.iter().filter_map(|cutoff| cutoff.tokens()).max().unwrap_or(0);
        let full = if budget == 0 { 0 } else { hits_to_fill(cut, self.setup.counter.special_tokens(), budget) };
        k.max((budget / 8).min(200)).max(full)
    }

    /// `own`: answers that came with the ranking, by question; empty where none can have come.
    fn mode(
        &mut self,
        cut: &Cut,
        ranking: &Ranking,
        own: &[Option<String>],
        observer: &dyn Observer,
    ) -> Result<Vec<Item>, RunError> {
        let questions = &self.corpus.set.questions;
        observer.stage(&format!("{}: {} answers", cut.name, ranking.mode), questions.len() * self.cutoffs.len());
        let cutter = Cutter {
            documents: &self.corpus.documents,
            counter: self.setup.counter.as_ref(),
            rule: self.experiment.retrieval.budget_rule,
        };
        let picked: Vec<Vec<Vec<Given>>> = (self.cutoffs.iter())
            .map(|&cutoff| ranking.hits.par_iter().map(|hits| cutter.pick(hits, cut, cutoff)).collect())
            .collect();
        if let Some(reader) = &mut self.reader {
            let widest: Vec<Context> =
                picked.iter().flatten().flatten().filter_map(|given| place(self.corpus, given)).collect();
            reader.warm(widest.iter())?;
            let places = questions.iter().flat_map(|q| q.gold.iter().map(|&span| (q.document, span)));
            let gold: Vec<Context> = places.map(|(document, span)| Context { document, span }).collect();
            reader.warm(gold.iter())?;
        }
        let problems = self.problems(cut, ranking);
        let mut items = Vec::with_capacity(questions.len() * self.cutoffs.len());
        for (cutoff, picked) in self.cutoffs.iter().zip(&picked) {
            let setting = Setting { mode: ranking.mode.clone(), cutoff: *cutoff };
            let (answers, seconds) = self.answers(cut, picked, own, &problems, observer)?;
            let time = |seconds| AnswerTime { mode: ranking.mode.clone(), cutoff: *cutoff, seconds };
            self.answer_times.extend(seconds.map(time));
            for (q, (answer, hits)) in answers.into_iter().zip(picked).enumerate() {
                items.push(match answer {
                    Ok(answer) => self.scorer.item(q, cut, &setting, hits, answer),
                    Err(problem) => self.scorer.failed(q, cut, &setting, problem),
                });
            }
            if self.generator(cut).is_none() {
                observer.advance(questions.len());
            }
        }
        if let Some(judge) = &self.setup.models.judge {
            observer.stage(&format!("{}: {} judgements", cut.name, ranking.mode), items.len());
            judged(judge.as_ref(), &mut items, &|| observer.advance(1))?;
        }
        Ok(items)
    }

    /// The row with the times of its queries and answers.
    fn timed(&mut self, mut row: ChunkerRow, rankings: &[Ranking]) -> ChunkerRow {
        for ranking in rankings {
            let times = QueryTimes { p50_ms: ranking.percentile_ms(0.5), p95_ms: ranking.percentile_ms(0.95) };
            row.query_times.insert(ranking.mode.clone(), times);
        }
        row.answer_times = std::mem::take(&mut self.answer_times);
        row
    }

    /// What items cost and took, by mode and setting; their means are filled in where all chunkers are compared.
    pub(super) fn cells(&self, row: &ChunkerRow, items: &[Item]) -> Vec<Cell> {
        let of_setting = |setting: Setting| {
            let here: Vec<&Item> = items.iter().filter(|item| item.is_at(&setting)).collect();
            cell(row, setting, &here)
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

/// What was found in an index.
struct Searched {
    chunks: Arc<Vec<Vec<Chunk>>>,
    /// Whether the encoder read their headings, and whether their documents.
    reads: (bool, bool),
    rankings: Vec<Ranking>,
    built: Built,
}

/// The passages that a retriever of others is asked for: the largest k, and for budgets one for each 20 tokens, 10 to 100.
fn foreign_depth(cutoffs: &[Cutoff]) -> usize {
    let wanted = cutoffs.iter().map(|cutoff| cutoff.k().or(cutoff.tokens().map(|budget| (budget / 20).clamp(10, 100))));
    wanted.flatten().max().unwrap_or(1)
}
