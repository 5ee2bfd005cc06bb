//! What language models answer, as judges and as generators: the search for JSON in it, scores, lists.

use std::sync::Arc;
use std::sync::Mutex;

use pericope_llm::config::ProviderKind;
use pericope_llm::{
    Account, Client, Finish, LlmConfig, LlmError, LlmGenerator, LlmJudge, Provider, Reply, Request, Shared, Tokens,
};
use serde_json::{Value, json};

use super::parts::{choice, parts, text};

pub(super) const WORDS: &[&str] = &[
    "{\"score\": 8, \"reason\": \"x\"}",
    "\"score\":",
    "\"reason\":",
    "\"claims\":",
    "\"claim\":",
    "\"supported\":",
    "\"excerpts\":",
    "\"number\":",
    "\"relevant\":",
    "true",
    "yes",
    "8/10",
    "8 out of 10",
    "11",
    "-1",
    "1e400",
    "NaN",
    "```json\n",
    "```",
    "<think>",
    "</think>",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\u{1e}",
    ",}",
    "null",
];
/// Questions that one answer may cost: as asked, longer, and again in other words.
const CALLS: usize = 4;

/// A model that says what it is told to, one part after the other, and the last of them for ever.
struct Scripted {
    answers: Vec<String>,
    finish: Finish,
    asked: Arc<Mutex<usize>>,
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn model(&self) -> &str {
        "scripted"
    }

    fn identity(&self) -> Value {
        json!({"model": "scripted"})
    }

    fn complete(&self, _: &Request, _: &Account<'_>) -> Result<Reply, LlmError> {
        let mut asked = self.asked.lock().expect("no other thread");
        let answer = self.answers.get(*asked).or(self.answers.last()).cloned().unwrap_or_default();
        *asked += 1;
        let mut reply = Reply::new(answer);
        reply.finish = self.finish.clone();
        Ok(reply)
    }
}

pub(super) fn judge(data: &[u8]) {
    let (finish, data) = choice(data, 8);
    let finish = match finish {
        0 => Finish::Length,
        1 => Finish::Refusal,
        2 => Finish::Other("else".into()),
        _ => Finish::Stop,
    };
    let answers: Vec<String> = parts(data).take(CALLS).map(text).collect();
    let config = LlmConfig::new(ProviderKind::OpenAi, "scripted");
    let asked = Arc::new(Mutex::new(0));
    let client = || {
        *asked.lock().expect("no other thread") = 0;
        let provider = Scripted { answers: answers.clone(), finish: finish.clone(), asked: Arc::clone(&asked) };
        let shared = Shared::in_memory().expect("a cache in memory");
        Arc::new(Client::new(Box::new(provider), shared, None, Tokens::default()).expect("a provider in this process"))
    };
    let calls = || *asked.lock().expect("no other thread");
    let judge = || LlmJudge::new(client(), &config, 1).expect("the prompts that are built in");

    if let Ok(judgement) = judge().judge("question", "gold", "answer") {
        assert!((0.0..=10.0).contains(&judgement.mean), "a mean of {}", judgement.mean);
        assert!(judgement.votes.iter().all(|vote| vote.score <= 10));
    }
    assert!(calls() <= CALLS, "{} calls for one vote", calls());
    if let Ok(found) = judge().faithfulness("answer", &["one", "two"]) {
        assert!(found.share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
    if let Ok(found) = judge().relevance("question", &["one", "two", "three"]) {
        assert_eq!(found.relevant.len(), 3);
        assert!(found.share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
    let generator = LlmGenerator::new(client(), &config).expect("the prompt that is built in");
    let _ = generator.answer("question", &["one", "two"]);
    assert!(calls() <= CALLS, "{} calls for one answer", calls());
}
