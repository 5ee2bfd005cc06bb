//! What asking models will come to, said before anything is paid.

use super::{Corpus, Observer};
use crate::cell::Cutoff;
use crate::config::{Experiment, GeneratorKind, LlmTables};

/// Tokens of a chunk where the chunker's own limit is not known yet: the default limit of an index.
const CHUNK: usize = 256;
/// Characters a token, for texts that nothing has counted.
const LETTERS: usize = 4;
/// Tokens of the instructions and the marks around a question or an answer.
const AROUND: usize = 450;

/// Requests, tokens and price of a run in round numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Estimate {
    pub(super) calls: usize,
    pub(super) prompt: usize,
    pub(super) price: f64,
}

/// Says what the run may come to, if it asks models; an estimate from the sizes that retrieval is allowed.
pub(super) fn announce(experiment: &Experiment, corpus: &Corpus, cutoffs: &[Cutoff], observer: &dyn Observer) {
    let questions: Vec<(usize, usize)> =
        corpus.set.questions.iter().map(|q| (q.text.len() / LETTERS, q.answer.len() / LETTERS)).collect();
    let found = of(experiment, &questions, cutoffs);
    if found.calls == 0 {
        return;
    }
    let budget = experiment.limits.budget.map(|b| format!(" of a budget of {b}")).unwrap_or_default();
    let priced = [&experiment.llm.generator, &experiment.llm.judge].into_iter().flatten().any(|c| c.price.is_some());
    let price = if priced { format!(", at most about {:.2}{budget}", found.price) } else { String::new() };
    observer.note(&format!(
        "models will be asked up to {} times with about {} tokens{price}; what is cached is not asked again",
        found.calls, found.prompt
    ));
}

/// `questions`: tokens of each question and of its gold answer.
fn of(experiment: &Experiment, questions: &[(usize, usize)], cutoffs: &[Cutoff]) -> Estimate {
    let LlmTables { generator, judge, .. } = &experiment.llm;
    let generator = generator.as_ref().filter(|_| experiment.answer.generator == GeneratorKind::Llm);
    let judge = judge.as_ref().filter(|_| experiment.judge.kind.asks_model());
    let runs = experiment.chunkers.len() * experiment.retrieval.modes.len();
    let mut found = Estimate::default();
    let mut add = |calls: usize, prompt: usize, config: &pericope_llm::LlmConfig| {
        found.calls += calls;
        found.prompt += calls * prompt;
        let most = (calls as u64 * prompt as u64, calls as u64 * u64::from(config.max_tokens));
        found.price += config.price.map_or(0.0, |price| price.of(most.0, most.1));
    };
    for cutoff in cutoffs {
        let context = cutoff.tokens().unwrap_or_else(|| cutoff.k().unwrap_or(1) * CHUNK);
        for (question, gold) in questions {
            if let Some(config) = generator {
                add(runs, AROUND + question + context, config);
            }
            if let Some(config) = judge {
                let answer = generator.map_or(*gold, |config| (config.max_tokens as usize).min(2 * gold));
                add(runs * experiment.judge.votes, AROUND + question + gold + answer, config);
                let more = [experiment.judge.faithfulness, experiment.judge.context_relevance];
                add(runs * more.into_iter().filter(|&asked| asked).count(), AROUND + context + answer, config);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::Path;

    #[test]
    fn calls_and_prices_add_up() {
        let text = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n[[chunker]]\nname = \"a\"\nspec = \"fixed:words=9\"\n\
            [answer]\ngenerator = \"llm\"\n[judge]\nkind = \"both\"\nvotes = 3\n\
            [llm.generator]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tokens = 100\nprice = { input = 10.0, output = 20.0 }\n\
            [llm.judge]\nprovider = \"openai\"\nmodel = \"m\"\n";
        let experiment = Experiment::parse(text, Path::new("x.toml"), &[], pericope_segment::registry::list()).unwrap();
        let found = of(&experiment, &[(10, 40), (10, 60)], &[Cutoff::K(1), Cutoff::Tokens(512)]);
        assert_eq!(found.calls, 2 * 2 * (1 + 3));
        let answers = 2 * (AROUND + 10 + 256) + 2 * (AROUND + 10 + 512);
        // Gold answers of 40 and 60 tokens; answers of at most 80 and 100.
        let judgements = 2 * 3 * ((AROUND + 10 + 40 + 80) + (AROUND + 10 + 60 + 100));
        assert_eq!(found.prompt, answers + judgements);
        assert!((found.price - (answers as f64 * 10.0 + 400.0 * 20.0) / 1e6).abs() < 1e-12);
        let silent =
            Experiment { answer: crate::config::AnswerConfig::default(), judge: Default::default(), ..experiment };
        assert_eq!(of(&silent, &[(10, 40)], &[Cutoff::K(1)]), Estimate::default());
    }
}
