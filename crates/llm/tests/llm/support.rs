use std::sync::Arc;

use pericope_llm::{
    Budget, Cache, Client, LlmConfig, LlmError, LlmGenerator, LlmJudge, Message, ProviderKind, Request, Role, Shared,
};
use pericope_testkit::llm::{Act, Seen, Server};
use serde_json::json;

/// Settings for a test server: short waits, no surprises.
pub fn config(base_url: &str) -> LlmConfig {
    let mut config = LlmConfig::new(ProviderKind::OpenAi, "test-model");
    config.base_url = Some(base_url.to_owned());
    config.retry_wait_seconds = 0.002;
    config.timeout_seconds = 30.0;
    config
}

pub fn shared(cache: Cache) -> Shared {
    Shared { cache: Arc::new(cache), budget: Arc::new(Budget::new(None)), offline: false }
}

pub fn client(server: &Server) -> Client {
    Client::from_config(&config(&server.base_url()), &Shared::in_memory().unwrap()).unwrap()
}

pub fn plain(text: &str) -> Request {
    Request::new(vec![Message::new(Role::User, text)], 50)
}

/// The number after `item-` in a prompt.
pub fn item(seen: &Seen) -> usize {
    let after = seen.prompt.split_once("item-").map_or("", |(_, after)| after);
    after.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(usize::MAX)
}

pub fn judges(seen: &Seen) -> bool {
    seen.prompt.contains("Reference answer:")
}

/// What the item's judge says: a known function.
pub fn score(item: usize) -> u8 {
    u8::try_from((item * 7) % 11).unwrap()
}

pub fn verdict(score: u8) -> String {
    json!({"reason": "as computed", "score": score}).to_string()
}

/// A model that answers every question and judges every answer.
pub fn answer(seen: &Seen) -> String {
    if judges(seen) { verdict(score(item(seen))) } else { format!("answer to item-{}", item(seen)) }
}

/// Both halves of an experiment.
pub struct Bench {
    pub generator: LlmGenerator,
    pub judge: LlmJudge,
}

impl Bench {
    pub fn new(config: &LlmConfig, shared: &Shared) -> Self {
        // As in an experiment with one model for both.
        let client = Arc::new(Client::from_config(config, shared).unwrap());
        Self {
            generator: LlmGenerator::new(client.clone(), config).unwrap(),
            judge: LlmJudge::new(client, config, 1).unwrap(),
        }
    }

    /// Answers and judges one item; the score and the number of excerpts that did not fit.
    pub fn item(&self, item: usize, chunks: &[&str]) -> Result<(f64, usize), LlmError> {
        let question = format!("What is item-{item}?");
        let answer = self.generator.answer(&question, chunks)?;
        assert_eq!(answer.text, format!("answer to item-{item}"));
        let judgement = self.judge.judge(&question, "gold", &answer.text)?;
        Ok((judgement.mean, answer.dropped))
    }
}

pub fn always(act: Act) -> impl Fn(&Seen) -> Act + Send + Sync + 'static {
    move |_| act.clone()
}

/// `act` the first time that something is asked.
pub fn first(seen: &Seen, act: Act) -> Act {
    if seen.before == 0 { act } else { Act::Answer }
}
