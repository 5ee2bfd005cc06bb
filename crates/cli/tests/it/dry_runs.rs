//! What a dry run says is at least what the run then sends.

use std::fs;
use std::path::Path;

use pericope_testkit::llm::{Act, Server};
use serde_json::Value;

use crate::common::{SECOND_CHUNKER, SMALL_EXPERIMENT, stderr, stdout, three_questions, without_models};

/// Runs an experiment, first dry, and returns what was said (requests, letters) and what was sent.
fn said_and_sent(folder: &Path, server: &Server, text: &str) -> ([usize; 2], [usize; 2]) {
    fs::write(folder.join("x.toml"), text).unwrap();
    let run = |more: &[&str]| {
        let mut command = without_models(folder);
        command.env_remove("OPENAI_API_KEY").env("OPENAI_BASE_URL", server.base_url());
        let output = command.args(["eval", "run", "x.toml"]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output
    };
    let dry: Value = serde_json::from_str(&stdout(&run(&["--dry-run", "--json"]))).unwrap();
    assert_eq!(server.calls(), 0, "a dry run asks nobody");
    let models = dry["models"].as_array().unwrap();
    assert!(models.iter().all(|model| model["role"] == "embedder" && model["model"] == "e"), "{dry}");
    let tokens: u64 = models.iter().map(|model| model["prompt_tokens"].as_u64().unwrap()).sum();
    let said = [dry["calls"].as_u64().unwrap(), 4 * tokens].map(|n| usize::try_from(n).unwrap());
    run(&["--out", "run"]);
    let log = server.log();
    let texts = log.iter().flat_map(|seen| seen.body["input"].as_array().unwrap());
    let letters = texts.map(|text| text.as_str().unwrap().chars().count()).sum();
    (said, [log.len(), letters])
}

fn is_enough([said, sent]: [[usize; 2]; 2]) {
    assert!(sent[0] > 0 && said[0] >= sent[0] && said[1] >= sent[1], "said {said:?}, sent {sent:?}");
}

#[test]
fn what_the_reader_of_answers_embeds_is_said_before() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    let server = Server::start(|_| String::new(), |_| Act::Answer).unwrap();
    let text = format!("{SMALL_EXPERIMENT}{SECOND_CHUNKER}")
        .replace("embedder = \"none\"", "embedder = \"openai:e\"")
        .replace("modes = [\"bm25\"]", "modes = [\"dense\", \"bm25\"]\ntoken_budgets = [10, 20]");
    let (said, sent) = said_and_sent(folder.path(), &server, &text);
    is_enough([said, sent]);
    // The length of the vectors, the questions, the chunks of each chunker: more than that is the reader's.
    assert!(sent[0] > 4, "{sent:?}");
}

#[test]
fn what_segmenters_embed_is_said_before() {
    for spec in [
        "window:embedder=openai:e",
        "kamradt:embedder=openai:e",
        "cluster:embedder=openai:e",
        "same-size:reference=(window:embedder=openai:e)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        three_questions(folder.path());
        let server = Server::start(|_| String::new(), |_| Act::Answer).unwrap();
        let second = SECOND_CHUNKER.replace("spec = \"paragraph\"", &format!("spec = \"{spec}\""));
        let text = format!("{SMALL_EXPERIMENT}{second}").replace("k = [1]", "k = [1]\ntokenizer = \"words\"");
        let (said, sent) = said_and_sent(folder.path(), &server, &text);
        is_enough([said, sent]);
    }
}
