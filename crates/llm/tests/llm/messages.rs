//! Anthropic's messages API.

use pericope_llm::{LlmConfig, LlmJudge, ProviderKind, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{Bench, always, answer, config, first, judges, score, verdict};

fn anthropic(server: &Server) -> LlmConfig {
    LlmConfig { provider: ProviderKind::Anthropic, ..config(&server.base_url()) }
}

#[test]
fn answers_and_judgements() {
    let plan = |seen: &Seen| if judges(seen) { first(seen, Act::Status(529)) } else { Act::Answer };
    let server = Server::start(answer, plan).unwrap();
    let bench = Bench::new(&anthropic(&server), &Shared::in_memory().unwrap());
    let items: Vec<usize> = (0..20).collect();
    let done = map_concurrent(4, &items, |_, item| bench.item(*item, &["a", "b"]));
    for (item, result) in items.iter().zip(done.results) {
        assert_eq!(result.unwrap().unwrap().0, f64::from(score(*item)));
    }
    assert_eq!(server.calls(), 60);
    let log = server.log();
    let judged = log.iter().find(|seen| judges(seen)).unwrap();
    assert_eq!(judged.path, "/v1/messages");
    assert_eq!(judged.headers["anthropic-version"], "2023-06-01");
    assert!(judged.body["system"].as_str().unwrap().contains("You grade answers"));
    assert_eq!(judged.body["tool_choice"]["name"], judged.body["tools"][0]["name"]);
    assert_eq!(judged.body["messages"].as_array().unwrap().len(), 1);
    assert!(judged.body.get("seed").is_none() && judged.body.get("response_format").is_none());
    // What the service's own cache held is read too.
    let total = bench.judge.client().total();
    let words: u64 = log.iter().map(|seen| seen.prompt.split_whitespace().count() as u64).sum();
    assert!(total.prompt_tokens > 40 * 2 && total.prompt_tokens < words + 40 * 2);
}

#[test]
fn repairs_refusals_and_tools_that_are_not_taken() {
    let judge = |server: &Server| LlmJudge::from_config(&anthropic(server), 1, &Shared::in_memory().unwrap()).unwrap();
    let eleven = Server::start(|seen| verdict(if seen.before == 0 { 11 } else { 9 }), always(Act::Answer)).unwrap();
    let found = judge(&eleven).judge("q", "gold", "answer").unwrap();
    assert_eq!((found.mean, found.repaired, eleven.calls()), (9.0, 1, 2));
    assert_eq!(eleven.log()[1].body["messages"].as_array().unwrap().len(), 3);

    let refusing = Server::start(|_| String::new(), always(Act::Refuse)).unwrap();
    let error = judge(&refusing).judge("q", "gold", "answer").unwrap_err();
    assert_eq!((error.status(), refusing.calls()), ("refused", 1));

    let no_tools = |seen: &Seen| match seen.body.get("tools") {
        Some(_) => Act::Error(400, "tool_choice is not supported".into()),
        None => Act::Fence,
    };
    let server = Server::start(|_| verdict(3), no_tools).unwrap();
    let judge = judge(&server);
    for question in ["q1", "q2", "q3"] {
        assert_eq!(judge.judge(question, "gold", "answer").unwrap().mean, 3.0);
    }
    assert_eq!(server.calls(), 4);
}
