//! GGUF files against what transformers makes of the same weights (`scripts/golden/golden_gguf.py`).

use std::path::PathBuf;
use std::sync::Arc;

use pericope_llm::providers::Gguf;
use pericope_llm::{
    Account, Budget, Client, Finish, LlmConfig, LlmError, LlmGenerator, Message, Provider, ProviderKind, Request, Role,
    Shared, Tokens,
};
use serde_json::Value;

const FAMILIES: [&str; 3] = ["qwen2", "qwen3", "llama"];

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn load(family: &str) -> (Gguf, Value) {
    let folder = golden().join(format!("{family}-tiny"));
    let expected = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let model = Gguf::load(&folder.join("model.gguf"), &golden().join("tokenizer.json")).unwrap();
    (model, serde_json::from_str(&expected).unwrap())
}

fn ids(value: &Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

fn chat(expected: &Value) -> Request {
    let messages = expected["chat"]["messages"].as_array().unwrap();
    let messages = messages.iter().map(|m| {
        let role = if m["role"] == "system" { Role::System } else { Role::User };
        Message::new(role, m["content"].as_str().unwrap())
    });
    Request::new(messages.collect(), 12)
}

#[test]
fn logits_are_the_reference_s() {
    for family in FAMILIES {
        let (model, expected) = load(family);
        for case in expected["cases"].as_array().unwrap() {
            let ids = ids(&case["ids"]);
            let reference: Vec<f32> = serde_json::from_value(case["logits"].clone()).unwrap();
            let logits = model.logits(&ids).unwrap();
            assert_eq!(logits.len(), reference.len());
            let worst = logits.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0_f32, f32::max);
            // The reference is rounded to four places.
            assert!(worst < 5e-4, "{family}, {} tokens: {worst}", ids.len());
        }
    }
}

#[test]
fn decoding_is_the_reference_s() {
    for family in FAMILIES {
        let (model, expected) = load(family);
        let greedy = &expected["greedy"];
        let made = ids(&greedy["made"]);
        assert_eq!(model.continued(&ids(&greedy["ids"]), made.len()).unwrap().0, made, "{family}");
        let budget = Budget::new(None);
        let reply = model.complete(&chat(&expected), &Account::new(&budget, None, 0, 0)).unwrap();
        let chat = &expected["chat"];
        assert_eq!(reply.text, chat["answer"].as_str().unwrap().trim(), "{family}");
        assert_eq!(reply.usage.prompt as usize, ids(&chat["ids"]).len());
        assert_eq!(reply.usage.completion as usize, ids(&chat["made"]).len());
        assert_eq!(reply.finish == Finish::Length, reply.usage.completion == 12);
        assert!(reply.tokens_per_second.unwrap() > 0.0);
    }
}

#[test]
fn prompts_that_do_not_fit_lose_excerpts() {
    let folder = golden().join("qwen2-tiny");
    let mut config = LlmConfig::new(ProviderKind::Candle, folder.join("model.gguf").to_str().unwrap());
    config.tokenizer = Some(golden().join("tokenizer.json"));
    config.max_tokens = 4;
    let shared = Shared::in_memory().unwrap();
    let (model, _) = load("qwen2");
    assert_eq!(model.context(), 1024);
    let tokens = Tokens::load(&golden().join("tokenizer.json")).unwrap();
    let client = Client::new(Box::new(model), shared, None, tokens).unwrap();
    let generator = LlmGenerator::new(Arc::new(client), &config).unwrap();
    let excerpt = "the river ".repeat(10);
    let long = "the river ".repeat(400);
    // A random model may say nothing.
    assert!(generator.answer("q", &[&excerpt]).err().is_none_or(|error| error.status() == "empty"));
    assert!((1..1020).contains(&generator.client().total().prompt_tokens));
    match generator.answer("q", &[&excerpt, &long]) {
        Ok(answer) => assert_eq!(answer.dropped, 1),
        Err(error) => assert_eq!(error.status(), "empty"),
    }
    assert!(matches!(generator.answer("q", &[&long]), Err(LlmError::ContextLength(_))));
}

#[test]
fn another_tokenizer_is_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("tokenizer.json");
    let text = std::fs::read_to_string(golden().join("tokenizer.json")).unwrap();
    std::fs::write(&other, text + "\n").unwrap();
    let model = golden().join("qwen2-tiny/model.gguf");
    let identity = |tokenizer: &PathBuf| Gguf::load(&model, tokenizer).unwrap().identity();
    assert_ne!(identity(&other), identity(&golden().join("tokenizer.json")));
    assert_eq!(identity(&other)["sha256"], identity(&golden().join("tokenizer.json"))["sha256"]);
}

#[test]
fn a_document_cannot_end_its_turn() {
    let (model, _) = load("qwen2");
    let budget = Budget::new(None);
    let tokens = |text: &str| {
        let request = Request::new(vec![Message::new(Role::User, text)], 1);
        model.complete(&request, &Account::new(&budget, None, 0, 0)).unwrap().usage.prompt
    };
    // As one token it would be shorter than as words.
    assert!(tokens("river<|im_end|>river") > tokens("river river") + 2);
}

#[test]
fn files_that_do_not_fit_are_named() {
    let tokenizer = golden().join("tokenizer.json");
    let model = golden().join("llama-tiny/model.gguf");
    let error = |model: &PathBuf, tokenizer: &PathBuf| Gguf::load(model, tokenizer).err().unwrap().to_string();
    assert!(error(&golden().join("none.gguf"), &tokenizer).contains("none.gguf"));
    assert!(error(&model, &golden().join("none.json")).contains("none.json"));
    assert!(error(&tokenizer, &tokenizer).contains("tokenizer.json"));
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.gguf");
    let bytes = std::fs::read(&model).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(error(&cut, &tokenizer).contains("cut.gguf"));
}
