//! Whether what an experiment says can be run: what is wrong, and what has no effect.

use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::{SegmenterEntry, check_in};
use pericope_segment::spec::Spec;
use pericope_store::Expand;

use super::{AnswerConfig, ChunkerConfig, Experiment, GeneratorKind, JudgeKind, nightly};

impl Experiment {
    /// What the configuration says without effect, a line each.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        let mut found = Vec::new();
        let judged = self.judge.kind.asks_model();
        let generated = self.is_answered_by(GeneratorKind::Llm);
        let segmented = !self.asking_specs().is_empty();
        let placed = self.chunkers.iter().any(|chunker| self.adds_context(chunker));
        if self.judge.votes != 1 && !judged {
            found.push("judge.votes has no effect: no language model judges".to_owned());
        }
        if (self.judge.faithfulness || self.judge.context_relevance) && !judged {
            found.push("judge.faithfulness and judge.context_relevance have no effect: no model judges".to_owned());
        }
        if self.judge.pairwise && !judged {
            found.push("judge.pairwise has no effect: no model judges".to_owned());
        } else if self.judge.pairwise && self.names().len() < 2 {
            found.push("judge.pairwise has no effect: there is one chunker alone".to_owned());
        }
        let retrieval = &self.retrieval;
        let expands = |own: Option<Expand>| retrieval.expansion(own).expand != Expand::None;
        if retrieval.expand_tokens.is_some() && !self.chunkers.iter().any(|chunker| expands(chunker.expand)) {
            found.push("retrieval.expand_tokens has no effect: nothing is expanded".to_owned());
        }
        if retrieval.rerank_depth.is_some() && self.rerankers().is_empty() {
            found.push("retrieval.rerank_depth has no effect: nothing is reranked".to_owned());
        }
        if retrieval.embedder == "none" && self.chunkers.iter().any(|chunker| self.prefixes_headings(chunker)) {
            found.push("prefix_headings has no effect: retrieval.embedder = \"none\"".to_owned());
        }
        if retrieval.embedder == "none" && self.chunkers.iter().any(|chunker| self.chunks_late(chunker)) {
            found.push("late_chunking has no effect: retrieval.embedder = \"none\"".to_owned());
        }
        found.extend(self.chunkers.iter().filter_map(|chunker| self.oversized(chunker)));
        let AnswerConfig { model, steps, rehearsal, .. } = &self.answer;
        if (model.is_some() || steps.is_some() || rehearsal.is_some()) && !self.reads_spans() {
            let keys = "answer.model, answer.steps and answer.rehearsal";
            found.push(format!("{keys} have no effect: neither cogltx nor a retriever memrecall is asked for"));
        }
        if self.limits.budget.is_some() && !judged && !generated && !segmented && !placed {
            found.push("limits.budget has no effect: nothing in this run costs money".to_owned());
        }
        if self.llm.generator.is_some() && !generated {
            found.push("[llm.generator] has no effect: no generator is \"llm\"".to_owned());
        }
        if self.llm.judge.is_some() && !judged {
            found.push("[llm.judge] has no effect: judge.kind is neither \"llm\" nor \"both\"".to_owned());
        }
        if self.llm.segmenter.is_some() && !segmented {
            found.push("[llm.segmenter] has no effect: no chunker's spec is `llm`".to_owned());
        }
        if self.llm.context.is_some() && !placed {
            found.push("[llm.context] has no effect: nothing says context = \"llm\"".to_owned());
        }
        found
    }

    /// That chunks are asked for which are larger than the limit in force, as far as it is known here.
    fn oversized(&self, chunker: &ChunkerConfig) -> Option<String> {
        let spec = &chunker.spec;
        let number = |key: &str| spec.get(key)?.parse::<usize>().ok();
        // Elsewhere the key means something else.
        let tokens = number("tokens").filter(|_| ["fixed", "recursive"].contains(&spec.name.as_str()))?;
        let limits = self.below_headings(chunker, self.known_limits());
        let limit = number("max_tokens").or(limits.max_tokens).filter(|limit| *limit > 0 && tokens > *limit)?;
        Some(format!(
            "chunker '{}': tokens={tokens} is above the limit of {limit} tokens a chunk, which cuts first; max_tokens in its spec \
             sets another",
            chunker.name
        ))
    }

    /// Checks what the types do not say; `segmenters` are those that specs may name.
    pub(crate) fn check(&self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        let retrievers = self.all_retrievers();
        let names = self.names();
        if names.is_empty() {
            return Err("there is no [[chunker]] and no [[retriever]] to evaluate".into());
        }
        if let Some((_, name)) =
            names.iter().enumerate().find(|(i, name)| names.iter().take(*i).any(|other| other == *name))
        {
            return Err(match self.chunkers.iter().filter(|chunker| chunker.name == *name).count() {
                0 | 1 => format!("two chunkers or retrievers are named '{name}'"),
                _ => format!("two chunkers are named '{name}'"),
            });
        }
        if names.iter().any(|name| name.trim().is_empty()) {
            return Err("a chunker or retriever has an empty name: tables tell them apart by it".into());
        }
        for chunker in &self.chunkers {
            check_in(segmenters, &chunker.spec).map_err(|e| format!("chunker '{}': {e}", chunker.name))?;
            if chunker.rerank.as_ref().is_some_and(|spec| spec.trim().is_empty()) {
                return Err(format!("chunker '{}': rerank is empty: name a reranker, or none", chunker.name));
            }
            let reads_more = self.prefixes_headings(chunker) || self.adds_context(chunker);
            if self.chunks_late(chunker) && reads_more {
                let reason = "late_chunking goes neither with prefix_headings nor with context";
                return Err(format!("chunker '{}': {reason}", chunker.name));
            }
        }
        self.retrieval.check(!self.chunkers.is_empty())?;
        retrievers.iter().try_for_each(|retriever| retriever.check(self.retrieval.embedder != "none"))?;
        self.answer.check()?;
        self.check_models()?;
        self.compare.decision(self)?;
        if !(0.0..=1.0).contains(&self.limits.max_failed) {
            return Err("limits.max_failed is a share: 0 to 1".into());
        }
        if self.limits.budget.is_some_and(|budget| budget.is_nan() || budget < 0.0) {
            return Err("limits.budget must be 0 or more".into());
        }
        if let Some(tune) = &self.tune {
            tune.check(self)?;
        }
        nightly::check(self)
    }

    fn check_models(&self) -> Result<(), String> {
        let judged = self.judge.kind.asks_model();
        let is_silent = |generator: &GeneratorKind| *generator == GeneratorKind::None;
        let mixed =
            |(_, generator): &(String, GeneratorKind)| is_silent(generator) != is_silent(&self.answer.generator);
        if let Some((name, own)) = self.names().into_iter().zip(self.generators()).find(mixed) {
            let [own, all] = [own, self.answer.generator].map(GeneratorKind::name);
            return Err(format!(
                "'{name}' has generator = \"{own}\" beside answer.generator = \"{all}\": answers are made for all or for none"
            ));
        }
        if self.is_answered_by(GeneratorKind::Llm) && self.llm.generator.is_none() {
            return Err("generator = \"llm\" needs a table [llm.generator]: provider, model, base_url".into());
        }
        if judged && self.llm.judge.is_none() {
            return Err("judge.kind = \"llm\" or \"both\" needs a table [llm.judge]: provider, model, base_url".into());
        }
        if self.answer.generator == GeneratorKind::None && judged {
            return Err("judge.kind asks a model, but answer.generator = \"none\" leaves nothing to judge".into());
        }
        if self.answer.generator == GeneratorKind::None && self.judge.kind == JudgeKind::Custom {
            return Err("judge.kind = \"custom\", but answer.generator = \"none\" leaves nothing to judge".into());
        }
        if self.judge.votes == 0 {
            return Err("judge.votes must be at least 1".into());
        }
        let named = |wanted: LanguageModel| wanted.model.is_some() || wanted.config.is_some();
        let lacks = |spec: &Spec| self.llm.segmenter.is_none() && !named(LanguageModel::of(spec));
        if let Some((name, _)) = self.asking_specs().iter().find(|(_, spec)| lacks(spec)) {
            return Err(format!(
                "chunker '{name}' asks a model: it needs a table [llm.segmenter] (provider, model, base_url), or llm:model=NAME"
            ));
        }
        if self.llm.context.is_none() && self.chunkers.iter().any(|chunker| self.adds_context(chunker)) {
            return Err("context = \"llm\" needs a table [llm.context]: provider, model, base_url".into());
        }
        self.llm.check()
    }
}
