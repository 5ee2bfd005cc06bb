//! What asking models will come to, said before anything is paid.

use pericope_llm::{LlmConfig, LlmContextWriter, RerankForm};
use pericope_segment::llm::{DEFAULT_TOKENS, LanguageModel};
use pericope_segment::spec::Spec;
use pericope_store::Expand;
use serde::Serialize;

use super::estimate_vectors::embedders;
use super::judge_checks::ASKED_TRIED;
use super::model_estimate::{BYTES_PER_TOKEN, ModelEstimate, UNLIMITED_CHUNK, chunk, limit};
use super::{Corpus, Observer};
use crate::asking::segmenter_config;
use crate::cell::Cutoff;
use crate::config::{ChunkerConfig, Experiment, GeneratorKind, shown_reranker};
use crate::data::QuestionSet;

/// Tokens of the instructions and the marks around a question or an answer.
const AROUND: usize = 450;

/// What a run may ask of models that cost something. What a cache holds already is not asked again, and is not taken off.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// Questions.
    pub questions: usize,
    /// Documents.
    pub documents: usize,
    /// Chunkers.
    pub chunkers: usize,
    /// The models that are asked, none where nothing is paid.
    pub models: Vec<ModelEstimate>,
    /// What may be spent, where that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// Chunkers and retrievers whose chunks have no limit and are read by a model whole, at some k: they are counted with
    /// [`UNLIMITED_CHUNK`] tokens, and may cost more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlimited: Vec<String>,
}

impl Estimate {
    /// Requests to all models.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.models.iter().map(|model| model.calls).sum()
    }

    /// The price of all, where any is known.
    #[must_use]
    pub fn price(&self) -> Option<f64> {
        self.models.iter().filter_map(|model| model.price).reduce(|sum, price| sum + price)
    }
}

/// Estimates a run over these documents and questions, from the sizes that it is allowed; nothing is cut, asked or opened.
#[must_use]
pub fn estimate(experiment: &Experiment, set: &QuestionSet) -> Estimate {
    let texts: Vec<(usize, usize)> =
        set.questions.iter().map(|q| (q.text.len() / BYTES_PER_TOKEN, q.answer.len() / BYTES_PER_TOKEN)).collect();
    let corpus: Vec<usize> = set.documents.iter().map(|document| document.source.len() / BYTES_PER_TOKEN).collect();
    let mut found = of(experiment, &texts, &corpus);
    let generator = found.models.iter().find(|model| model.role == "generator");
    let embedders = embedders(experiment, &set.questions, &set.documents, generator);
    found.models.extend(embedders);
    found
}

/// Says what the run may come to, if it asks models.
pub(super) fn announce(experiment: &Experiment, corpus: &Corpus, observer: &dyn Observer) {
    let texts: Vec<(usize, usize)> = corpus
        .set
        .questions
        .iter()
        .map(|q| (q.text.len() / BYTES_PER_TOKEN, q.answer.len() / BYTES_PER_TOKEN))
        .collect();
    let documents: Vec<usize> =
        corpus.documents.iter().map(|document| document.source.len() / BYTES_PER_TOKEN).collect();
    let found = of(experiment, &texts, &documents);
    let calls = found.calls();
    if calls == 0 {
        return;
    }
    let budget = found.budget.map(|b| format!(" of a budget of {b}")).unwrap_or_default();
    let price = found.price().map(|price| format!(", at most about {price:.2}{budget}")).unwrap_or_default();
    let tokens: usize = found.models.iter().map(|model| model.prompt_tokens).sum();
    observer.note(&format!(
        "models will be asked up to {calls} times with about {tokens} tokens{price}; what is cached is not asked again"
    ));
}

/// What is asked of all but embedders. `texts`: tokens of each question and of its gold answer; `corpus`: tokens of each document.
fn of(experiment: &Experiment, texts: &[(usize, usize)], corpus: &[usize]) -> Estimate {
    let mut models = Vec::new();
    models.extend(generator(experiment, texts, corpus));
    models.extend(judge(experiment, texts, corpus));
    models.extend(segmenters(experiment, corpus));
    models.extend(contexts(experiment, corpus));
    models.extend(rerankers(experiment, texts, corpus));
    Estimate {
        questions: texts.len(),
        documents: corpus.len(),
        chunkers: experiment.chunkers.len(),
        models,
        budget: experiment.limits.budget,
        unlimited: unlimited(experiment, corpus),
    }
}

/// Requests of one role, added up.
struct Sum<'a> {
    config: &'a LlmConfig,
    calls: usize,
    prompt: usize,
}

impl<'a> Sum<'a> {
    fn new(config: &'a LlmConfig) -> Self {
        Self { config, calls: 0, prompt: 0 }
    }

    fn add(&mut self, calls: usize, prompt: usize) {
        self.calls = self.calls.saturating_add(calls);
        self.prompt = self.prompt.saturating_add(calls.saturating_mul(prompt));
    }

    fn done(self, role: &'static str) -> Option<ModelEstimate> {
        let Self { config, calls, prompt } = self;
        let completion = calls.saturating_mul(config.max_tokens as usize);
        (calls > 0).then(|| ModelEstimate::of(role, config, calls, (prompt, completion)))
    }
}

fn generator(experiment: &Experiment, texts: &[(usize, usize)], corpus: &[usize]) -> Option<ModelEstimate> {
    let config = experiment.llm.generator.as_ref()?;
    let mut sum = Sum::new(config);
    for_each_context(experiment, corpus, |generator, context| {
        if generator == GeneratorKind::Llm {
            texts.iter().for_each(|(question, _)| sum.add(1, AROUND + question + context));
        }
    });
    sum.done("generator")
}

fn judge(experiment: &Experiment, texts: &[(usize, usize)], corpus: &[usize]) -> Option<ModelEstimate> {
    let config = experiment.llm.judge.as_ref().filter(|_| experiment.judge.kind.asks_model())?;
    let judge = &experiment.judge;
    let generator = experiment.llm.generator.as_ref().filter(|_| experiment.is_answered_by(GeneratorKind::Llm));
    let answer = |gold: usize| generator.map_or(gold, |config| (config.max_tokens as usize).min(2 * gold));
    let more = usize::from(judge.faithfulness) + usize::from(judge.context_relevance);
    let mut sum = Sum::new(config);
    for_each_context(experiment, corpus, |_, context| {
        for (question, gold) in texts {
            sum.add(judge.votes, AROUND + question + gold + answer(*gold));
            sum.add(more, AROUND + context + answer(*gold));
        }
    });
    let settings = experiment.retrieval.modes.len() * experiment.retrieval.cutoffs().len();
    let pairs = if judge.pairwise { experiment.names().len().saturating_sub(1) * settings } else { 0 };
    for (question, gold) in texts {
        // In both orders.
        sum.add(2 * pairs, AROUND + question + gold + 2 * answer(*gold));
    }
    if judge.checks {
        // Each with its own gold answer and with another's.
        texts
            .iter()
            .take(ASKED_TRIED)
            .for_each(|(question, gold)| sum.add(2 * judge.votes, AROUND + question + 2 * gold));
    }
    sum.done("judge")
}

/// Services that order hits anew: each chunker's, once for every question and mode.
fn rerankers(experiment: &Experiment, texts: &[(usize, usize)], corpus: &[usize]) -> Vec<ModelEstimate> {
    let (modes, questions) =
        (experiment.retrieval.modes.len(), texts.iter().map(|(question, _)| question).sum::<usize>());
    let mut found: Vec<ModelEstimate> = Vec::new();
    for chunker in &experiment.chunkers {
        let reranking = experiment.retrieval.reranking(chunker.rerank.as_deref());
        let Some(reranking) = reranking.filter(|reranking| reranking.spec.trim_start().starts_with("http")) else {
            continue;
        };
        let model = shown_reranker(reranking.spec);
        let passages = reranking.depth.saturating_mul(chunk(experiment, chunker, corpus)).saturating_mul(texts.len());
        let requests = rerank_requests(reranking.spec, reranking.depth);
        // Every request begins with the question.
        let asked = questions.saturating_mul(requests);
        let calls = texts.len().saturating_mul(modes).saturating_mul(requests);
        let tokens = asked.saturating_add(passages).saturating_mul(modes);
        match found.iter_mut().find(|known| known.model == model) {
            Some(known) => {
                known.calls += calls;
                known.prompt_tokens = known.prompt_tokens.saturating_add(tokens);
            }
            None => found.push(ModelEstimate {
                role: "reranker",
                model,
                calls,
                prompt_tokens: tokens,
                ..ModelEstimate::default()
            }),
        }
    }
    found
}

/// Requests to the service of a reranker's spec that score so many passages at once.
#[must_use]
pub fn rerank_requests(spec: &str, passages: usize) -> usize {
    let setting = |key: &str| {
        let settings = spec.split(',').skip(1).filter_map(|one| one.split_once('='));
        settings.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()).last()
    };
    // A form that there is not is refused where the reranker is opened.
    let form = RerankForm::of(setting("form"), setting("model")).unwrap_or(RerankForm::Texts);
    let batch = setting("batch").and_then(|text| text.parse().ok()).unwrap_or(form.usual_batch());
    passages.div_ceil(batch.max(1))
}

/// The models that cut: one for each spec that asks one. Those of equal specs ask the same.
fn segmenters(experiment: &Experiment, corpus: &[usize]) -> Vec<ModelEstimate> {
    let mut specs: Vec<Spec> = Vec::new();
    for (_, spec) in experiment.asking_specs() {
        if !specs.contains(&spec) {
            specs.push(spec);
        }
    }
    let estimated = specs.into_iter().filter_map(|spec| {
        // One that cannot be used is named when it is opened.
        let config = segmenter_config(&LanguageModel::of(&spec), experiment.llm.segmenter.as_ref()).ok()?;
        estimate_segmenter(&config, &spec, corpus)
    });
    estimated.collect()
}

/// Estimates what a model comes to that cuts documents of so many tokens (`corpus`) by a spec of the segmenter `llm`; `None` where
/// there is nothing to cut.
#[must_use]
pub fn estimate_segmenter(config: &LlmConfig, spec: &Spec, corpus: &[usize]) -> Option<ModelEstimate> {
    let tokens = spec.get("tokens").and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_TOKENS).max(2);
    let mut sum = Sum::new(config);
    corpus.iter().for_each(|document| sum.add(document.div_ceil(tokens / 2), AROUND + tokens.min(*document)));
    sum.done("segmenter")
}

/// Estimates what a model comes to that writes the contexts of chunks: `documents` are the tokens, the number of chunks, and the tokens
/// of a chunk of each. `None` where there is no chunk.
#[must_use]
pub fn estimate_contexts(
    config: &LlmConfig,
    documents: impl IntoIterator<Item = (usize, usize, usize)>,
) -> Option<ModelEstimate> {
    let mut sum = Sum::new(config);
    for (document, chunks, chunk) in documents {
        let shown = document.min(LlmContextWriter::DOCUMENT_BYTES / BYTES_PER_TOKEN);
        sum.add(chunks, AROUND + shown + chunk.min(document));
    }
    sum.done("context")
}

/// The model that writes the contexts of chunks.
fn contexts(experiment: &Experiment, corpus: &[usize]) -> Option<ModelEstimate> {
    let with = experiment.chunkers.iter().filter(|chunker| experiment.adds_context(chunker));
    let documents = with.flat_map(|chunker| {
        let chunk = chunk(experiment, chunker, corpus);
        corpus.iter().map(move |&document| (document, document.saturating_mul(2).div_ceil(chunk), chunk))
    });
    estimate_contexts(experiment.llm.context.as_ref()?, documents)
}

/// Calls `f` with the tokens of a context, for every chunker, mode and cutoff.
fn for_each_context(experiment: &Experiment, corpus: &[usize], mut f: impl FnMut(GeneratorKind, usize)) {
    for chunker in &experiment.chunkers {
        let expansion = experiment.retrieval.expansion(chunker.expand);
        let chunk = match expansion.expand {
            Expand::None => chunk(experiment, chunker, corpus),
            _ => chunk(experiment, chunker, corpus).max(expansion.tokens),
        };
        for cutoff in experiment.retrieval.cutoffs() {
            let context = match cutoff {
                Cutoff::K(k) => k.saturating_mul(chunk),
                Cutoff::Tokens(budget) => budget,
            };
            let generator = experiment.generator(chunker.generator);
            experiment.retrieval.modes.iter().for_each(|_| f(generator, context));
        }
    }
    // What others hand out has no limit that is known.
    for retriever in experiment.all_retrievers() {
        for cutoff in experiment.retrieval.cutoffs() {
            let context = cutoff.tokens().unwrap_or_else(|| cutoff.size().saturating_mul(UNLIMITED_CHUNK));
            experiment.retrieval.modes.iter().for_each(|_| f(experiment.generator(retriever.generator), context));
        }
    }
}

/// Who may give a model longer chunks than it is counted with: at a number of chunks, without a size or a limit.
fn unlimited(experiment: &Experiment, corpus: &[usize]) -> Vec<String> {
    let asks = experiment.is_answered_by(GeneratorKind::Llm)
        || experiment.judge.kind.asks_model() && (experiment.judge.faithfulness || experiment.judge.context_relevance);
    let long = corpus.iter().any(|tokens| *tokens > UNLIMITED_CHUNK);
    if !asks || !long || experiment.retrieval.k.is_empty() {
        return Vec::new();
    }
    let sized = |chunker: &ChunkerConfig| ["tokens", "words"].iter().any(|key| chunker.spec.get(key).is_some());
    let chunkers = experiment
        .chunkers
        .iter()
        .filter(|chunker| limit(experiment, chunker) == Some(0) && !sized(chunker) && chunker.spec.name != "same-size");
    let retrievers = experiment.all_retrievers().into_iter().map(|retriever| retriever.name);
    chunkers.map(|chunker| chunker.name.clone()).chain(retrievers).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::config::Configuration;
    use std::path::Path;

    const TEXT: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n[retrieval]\nk = [1]\ntoken_budgets = [512]\n\
        [[chunker]]\nname = \"a\"\nspec = \"sentence\"\n[answer]\ngenerator = \"llm\"\n[judge]\nkind = \"both\"\nvotes = 3\n\
        checks = false\n[llm.generator]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tokens = 100\n\
        price = { input = 10.0, output = 20.0 }\n\
        [llm.judge]\nprovider = \"openai\"\nmodel = \"j\"\nmax_tokens = 50\ntokens_per_minute = 1000\n";

    fn parsed(more: &[&str]) -> Experiment {
        let more: Vec<String> = more.iter().map(|s| (*s).to_owned()).collect();
        Experiment::parse(TEXT, Path::new("x.toml"), &more, pericope_segment::registry::list()).unwrap()
    }

    #[test]
    fn calls_and_prices_add_up() {
        let texts = [(10, 40), (10, 60)];
        let found = of(&parsed(&[]), &texts, &[1000, 3000]);
        let [generator, judge] = found.models.as_slice() else { unreachable!() };
        // One mode, two cutoffs, two questions.
        assert_eq!((generator.calls, judge.calls, found.calls()), (4, 12, 16));
        let answers = 2 * (AROUND + 10 + 256) + 2 * (AROUND + 10 + 512);
        assert_eq!(generator.prompt_tokens, answers);
        // Gold answers of 40 and 60 tokens; answers of at most 80 and 100.
        let judgements = 2 * 3 * ((AROUND + 10 + 40 + 80) + (AROUND + 10 + 60 + 100));
        assert_eq!((judge.prompt_tokens, judge.completion_tokens), (judgements, 600));
        assert!((found.price().unwrap() - (answers as f64 * 10.0 + 400.0 * 20.0) / 1e6).abs() < 1e-12);
        assert_eq!(judge.seconds_at_least, Some(60.0 * (judgements + 600) as f64 / 1000.0));
        // Nobody is asked, nothing is paid.
        let silent = parsed(&["answer.generator=extractive", "judge.kind=lexical"]);
        assert_eq!(of(&silent, &texts, &[1000]).models, []);
    }

    #[test]
    fn models_that_cut_and_place_chunks_count() {
        let text = TEXT
            .replace("generator = \"llm\"", "generator = \"none\"")
            .replace("kind = \"both\"\nvotes = 3", "kind = \"none\"")
            .replace("spec = \"sentence\"", "spec = \"same-size:reference=(llm:tokens=100)\"\ncontext = \"llm\"")
            + "[llm.segmenter]\nprovider = \"openai\"\nmodel = \"s\"\nmax_tokens = 10\n\
               [llm.context]\nprovider = \"openai\"\nmodel = \"c\"\nmax_tokens = 20\nprice = { input = 1.0, output = 0.0 }\n";
        let known = [pericope_segment::registry::list(), pericope_segment::registry::outside()].concat();
        let experiment = Experiment::parse(&text, Path::new("x.toml"), &[], &known).unwrap();
        let found = of(&experiment, &[(10, 40)], &[1000, 40, 9000]);
        let [segmenter, context] = found.models.as_slice() else { panic!("{found:?}") };
        assert_eq!((segmenter.role, segmenter.model.as_str(), segmenter.calls), ("segmenter", "s", 20 + 1 + 180));
        assert_eq!(segmenter.prompt_tokens, 200 * (AROUND + 100) + AROUND + 40);
        assert_eq!(segmenter.completion_tokens, 2010);
        // Chunks of at most 256 tokens, counted as half as long; a document is shown as far as 2,000 tokens.
        assert_eq!((context.role, context.calls), ("context", 8 + 1 + 71));
        let prompts = 8 * (AROUND + 1000 + 256) + (AROUND + 40 + 40) + 71 * (AROUND + 2000 + 256);
        assert_eq!(context.prompt_tokens, prompts);
        assert!((found.price().unwrap() - prompts as f64 / 1e6).abs() < 1e-12);
    }

    #[test]
    fn a_service_that_takes_few_passages_is_asked_more_often() {
        let of = |spec: &str| rerank_requests(spec, 50);
        assert_eq!((of("https://a.b/rerank"), of("https://a.b/rerank,model=m")), (2, 1));
        assert_eq!((of("http://a.b/rerank,batch=10"), of("http://a.b/rerank,form=documents")), (5, 1));
    }

    #[test]
    fn pairs_checks_and_limits_count() {
        let two = "chunker=[{name=\"a\",spec=\"fixed:words=100\"},{name=\"b\",spec=\"sentence\"}]";
        let texts = [(10, 40), (10, 60)];
        let calls = |more: &[&str]| of(&parsed(&[&[two][..], more].concat()), &texts, &[1000, 3000]).calls();
        assert_eq!(calls(&[]), 32);
        // Two questions, two settings, one chunker beside the baseline, both orders.
        assert_eq!(calls(&["judge.pairwise=true"]), 32 + 2 * 2 * 2);
        assert_eq!(calls(&["judge.checks=true"]), 32 + 2 * 2 * 3);
        // 100 words are 140 tokens; without a limit a chunk may be as long as the longest document.
        assert_eq!(chunk(&parsed(&[two]), &parsed(&[two]).chunkers[0], &[4000]), 140);
        let of_chunkers = |more: &[&str], longest: usize| of(&parsed(more), &texts, &[longest]).unlimited;
        assert_eq!(of_chunkers(&["max_tokens=0"], 4000), ["a"]);
        // A limit, a size, documents as short as that, or budgets alone: nothing can be longer.
        assert!(of_chunkers(&[], 4000).is_empty() && of_chunkers(&["max_tokens=0"], 512).is_empty());
        assert!(of_chunkers(&["max_tokens=0", "retrieval.k=[]"], 4000).is_empty());
        assert_eq!(of_chunkers(&["max_tokens=0", two], 4000), ["b"]);
        let unlimited = parsed(&["max_tokens=0"]);
        assert_eq!(chunk(&unlimited, &unlimited.chunkers[0], &[4000, 40]), 512);
        assert_eq!(chunk(&unlimited, &unlimited.chunkers[0], &[90]), 90);
    }
}
