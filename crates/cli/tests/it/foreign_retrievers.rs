//! Retrievers of others, measured by `pericope eval run`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use pericope_testkit::llm::{Act, Server};
use serde_json::{Value, json};

use crate::common::{SMALL_EXPERIMENT, stderr, stdout, three_questions};

/// The small experiment, with these lines in `[retrieval]` and these tables behind; with or without its chunker.
fn experiment(root: &Path, retrieval: &str, tables: &str, chunker: bool) {
    three_questions(root);
    let (head, fixed) = SMALL_EXPERIMENT.split_once("[[chunker]]").unwrap();
    let fixed = if chunker { format!("[[chunker]]{fixed}") } else { String::new() };
    fs::write(root.join("x.toml"), format!("{head}{retrieval}\n{fixed}{tables}")).unwrap();
}

fn run(root: &Path, more: &[(&str, &str)]) -> Output {
    let mut command = Command::cargo_bin("pericope").unwrap();
    command
        .current_dir(root)
        .env("PERICOPE_HOME", root.join("no-home"))
        .args(["eval", "run", "x.toml", "--out", "out"]);
    command.envs(more.iter().copied()).output().unwrap()
}

fn summary(root: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(root.join("out/summary.json")).unwrap()).unwrap()
}

fn items(root: &Path, chunker: &str) -> Vec<Value> {
    let text = fs::read_to_string(root.join("out/items.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|i| i["chunker"] == chunker).collect()
}

fn metric(root: &Path, chunker: &str, name: &str) -> Value {
    let found = summary(root);
    let cell = found["cells"].as_array().unwrap().iter().find(|cell| cell["chunker"] == chunker).unwrap().clone();
    cell["metrics"][name].clone()
}

/// What a good service answers: the sentence that says who slept there, and one from nowhere.
fn good(question: &str) -> Value {
    let who = ["badger", "old sailor", "grey cat"];
    let place = ["garden", "harbour", "kitchen"].iter().position(|place| question.contains(place)).unwrap();
    let text = format!("The {} slept in the", who[place]);
    json!({"hits": [{"text": text, "score": 2.5}, {"document": format!("t{place}"), "start": 0, "end": 3}, {"text": "From nowhere."}],
        "answer": who[place]})
}

#[test]
fn parts_that_only_a_program_can_bring_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let retriever = "[[retriever]]\nname = \"mine\"\nspec = \"custom\"\n";
    for (tables, said) in [(retriever, "retriever 'mine': spec is custom"), ("", "judge.kind = \"custom\"")] {
        experiment(folder.path(), "", tables, true);
        for dry in [true, false] {
            let mut command = Command::cargo_bin("pericope").unwrap();
            command.current_dir(folder.path()).args(["eval", "run", "x.toml", "--out", "out"]);
            command.args(if tables.is_empty() { &["--set", "judge.kind=custom"][..] } else { &[] });
            let output = command.args(dry.then_some("--dry-run")).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(stderr(&output).contains(said), "{}", stderr(&output));
            assert!(!folder.path().join("out").join("run.json").exists());
        }
    }
}

#[test]
fn a_service_is_scored_as_it_is_deployed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let server = Server::start(
        |_| String::new(),
        |seen| Act::Raw(200, good(seen.body["question"].as_str().unwrap()).to_string()),
    )
    .unwrap();
    let url = format!("{}/search?token=hush-hush-123", server.base_url());
    let tables = format!("[[retriever]]\nname = \"mine\"\nspec = \"{url}\"\napi_key_env = \"MY_KEY\"\n");
    experiment(root, "token_budgets = [6]", &tables, true);
    let output = run(root, &[("MY_KEY", "sk-0123456789abcdef")]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("retriever 'mine': 3 of 9 passages stand in no document") && said.contains("From nowhere."),
        "{said}"
    );
    let found = summary(root);
    let row = &found["chunkers"][1];
    assert_eq!((&row["name"], &row["chunks"]), (&json!("mine"), &json!(7)), "{row}");
    assert_eq!(row["retriever"], json!({"passages": 9, "unplaced": 3}));
    let short = fs::read_to_string(root.join("out/summary.md")).unwrap().replace('\u{a0}', " ");
    assert!(short.contains("mine (3 of 9 passages, 33.3 %)") && short.contains("| 9 | 3 (33.3 %) |"), "{short}");
    let shown = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("mine (3 of 9 passages, 33.3 %)"), "{shown}");
    assert!(row["query_times"]["bm25"]["p50_ms"].as_f64().unwrap() > 0.0);
    assert_eq!((metric(root, "mine", "span_recall"), metric(root, "mine", "hit")), (json!(1.0), json!(1.0)));
    // Its own answer is scored, and what needs to know all chunks is not measured.
    assert_eq!(metric(root, "mine", "exact_match"), json!(1.0));
    assert_eq!((metric(root, "mine", "ndcg"), metric(root, "mine", "precision_omega")), (Value::Null, Value::Null));
    assert!(!metric(root, "fixed", "ndcg").is_null());
    assert!(found["comparisons"].as_array().unwrap().iter().any(|c| c["a"] == "mine" || c["b"] == "mine"));
    // A budget cuts what it hands out, as it cuts chunks.
    let budgeted = items(root, "mine").into_iter().filter(|item| item["token_budget"] == 6);
    assert!(budgeted.into_iter().all(|item| item["context_tokens"].as_u64() <= Some(6)));
    let call = &server.log()[0];
    assert_eq!(call.headers["authorization"], "Bearer sk-0123456789abcdef");
    assert_eq!(call.body, json!({"question": "Who slept in the garden?", "k": 10}));
    // Neither the key nor what the address holds is in any file.
    for file in fs::read_dir(root.join("out")).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("hush-hush") && !text.contains("sk-0123456789"), "{}", file.display());
    }
}

#[test]
fn failures_of_a_service_are_failed_items() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let act = |status: u16, body: Value| Act::Raw(status, body.to_string());
    let server = Server::start(
        |_| String::new(),
        move |seen| match seen.body["question"].as_str().unwrap() {
            question if question.contains("garden") => act(400, json!({"error": "no gardens"})),
            question if question.contains("harbour") => {
                act(200, json!({"hits": [{"document": "t1", "start": 5, "end": 999}]}))
            }
            question => act(200, good(question)),
        },
    )
    .unwrap();
    let tables = format!("[[retriever]]\nname = \"mine\"\nspec = \"{}/search\"\nretries = 0\n", server.base_url());
    experiment(root, "", &tables, false);
    let output = run(root, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let problems: Vec<String> =
        items(root, "mine").iter().filter_map(|item| Some(item["error"].as_str()?.to_owned())).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("400") && p.contains("no gardens")), "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("hit 0: 5..999 reaches beyond the document")), "{problems:?}");
    assert_eq!(summary(root)["failed"], 2);
    // No service at all stops the run: nothing would come of the rest.
    let nobody = Server::start(|_| String::new(), |_| Act::Status(404)).unwrap();
    experiment(root, &format!("retriever = \"{}/search\"", nobody.base_url()), "", false);
    let output = run(root, &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("retriever 'retriever'") && said.contains("is no service (404)"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_program_is_a_retriever_without_any_chunker() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let script = r#"while read -r line; do case $line in
  *garden*) echo '{"hits":[{"text":"The badger slept"}]}';;
  *harbour*) echo '{"hits":[]}';;
  *) echo '{"error":"no kitchens"}';;
esac; done"#;
    fs::write(root.join("find.sh"), script).unwrap();
    experiment(root, "retriever = \"command:/bin/sh find.sh\"", "[limits]\nmax_failed = 0.5\n", false);
    let output = run(root, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = summary(root);
    assert_eq!((&found["chunkers"][0]["name"], &found["failed"]), (&json!("retriever"), &json!(1)), "{found}");
    let recall: Vec<Value> =
        items(root, "retriever").iter().map(|item| item["metrics"]["span_recall"].clone()).collect();
    assert_eq!(recall, [json!(1.0), json!(0.0), Value::Null]);
    fs::write(root.join("find.sh"), "exit 1").unwrap();
    let mut command = Command::cargo_bin("pericope").unwrap();
    command.current_dir(root).env("PERICOPE_HOME", root.join("no-home"));
    command.args(["eval", "run", "x.toml", "--out", "out", "--resume"]);
    // An item had failed, so all are asked again, and fail as the program does.
    let again = command.output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    let problems =
        items(root, "retriever").into_iter().map(|item| item["error"].as_str().unwrap_or_default().to_owned());
    assert!(problems.into_iter().all(|problem| problem.contains("status 1")), "{}", stderr(&again));
}

#[cfg(unix)]
#[test]
fn a_retriever_that_is_missing_costs_no_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    experiment(root, "", "", true);
    assert_eq!(run(root, &[]).status.code(), Some(0));
    let before = items(root, "fixed");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (spec, says) in [
        ("command:no-such-program-anywhere".to_owned(), "cannot be started"),
        ("command:/bin/sh no-such-script.sh".to_owned(), "ended before it answered"),
        (format!("http://{nobody}/search"), "gave no answer"),
    ] {
        let tables = format!("[[retriever]]\nname = \"mine\"\nspec = \"{spec}\"\nretries = 0\n");
        experiment(root, "", &tables, true);
        let output = run(root, &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("retriever 'mine'") && said.contains(says), "{said}");
        assert_eq!(items(root, "fixed"), before, "{spec}");
        assert_eq!(summary(root)["questions"], 3, "{spec}");
    }
}

#[test]
fn wrong_retrievers_are_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (retrieval, tables, chunker, says) in [
        ("", "", false, "no [[chunker]] and no [[retriever]]"),
        ("retriever = \"somewhere\"", "", true, "none of http://HOST/PATH"),
        ("retriever = \"qdrant://h/c\"", "", true, "by vectors"),
        ("retriever = \"command:'x\"", "", true, "a quote ' is not closed"),
        ("", "[[retriever]]\nname = \"fixed\"\nspec = \"http://h\"\n", true, "named 'fixed'"),
        ("", "[[retriever]]\nname = \"r\"\nspec = \"http://h\"\nkey = \"sk\"\n", true, "unknown field `key`"),
        (
            "",
            "[[retriever]]\nname = \"r\"\nspec = \"http://h\"\napi_key_env = \"NO_SUCH_KEY\"\n",
            true,
            "NO_SUCH_KEY is not set",
        ),
    ] {
        experiment(root, retrieval, tables, chunker);
        let output = run(root, &[]);
        assert_eq!(output.status.code(), Some(2), "{retrieval}{tables}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

/// The vectors that the test server gives texts.
fn embedded(server: &Server, texts: &[&str]) -> Vec<Vec<f32>> {
    let body = json!({"model": "m", "input": texts}).to_string();
    let address = server.base_url().replace("http://", "");
    let address = address.trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/embeddings HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let json: Value = serde_json::from_str(&answer[answer.find("{\"").unwrap()..=answer.rfind('}').unwrap()]).unwrap();
    let mut rows: Vec<(u64, Vec<f32>)> = (json["data"].as_array().unwrap().iter())
        .map(|row| (row["index"].as_u64().unwrap(), serde_json::from_value(row["embedding"].clone()).unwrap()))
        .collect();
    rows.sort_by_key(|(index, _)| *index);
    rows.into_iter().map(|(_, vector)| vector).collect()
}

#[test]
fn a_collection_of_another_program_is_searched_by_the_experiments_embedder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let models = Server::start(|_| String::new(), |_| Act::Answer).unwrap();
    let qdrant = pericope_testkit::qdrant::Server::start().unwrap();
    let texts = [
        "The badger slept in the garden",
        "The old sailor slept in the harbour",
        "Who slept in the kitchen? Not here.",
    ];
    // Each passage lies where its question does, so that it is the nearest.
    let vectors =
        embedded(&models, &["Who slept in the garden?", "Who slept in the harbour?", "Who slept in the kitchen?"]);
    let points: Vec<(Vec<f32>, Value)> = (vectors.into_iter().zip(texts).enumerate())
        .map(|(i, (vector, text))| (vector, json!({"text": text, "meta": {"file": format!("t{i}")}})))
        .collect();
    qdrant.fill("theirs", Some("v"), &points).unwrap();
    let place = format!("{}&text=text&document=meta.file&vector=v", qdrant.url("theirs"));
    experiment(root, &format!("retriever = \"{place}\""), "", false);
    let text =
        fs::read_to_string(root.join("x.toml")).unwrap().replace("embedder = \"none\"", "embedder = \"openai:m\"");
    fs::write(root.join("x.toml"), text).unwrap();
    let output = run(root, &[("OPENAI_BASE_URL", &models.base_url())]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let recall: Vec<Value> =
        items(root, "retriever").iter().map(|item| item["metrics"]["span_recall"].clone()).collect();
    assert_eq!(recall, [json!(1.0), json!(1.0), json!(0.0)]);
    assert_eq!(summary(root)["chunkers"][0]["retriever"], json!({"passages": 3, "unplaced": 1}));
}

#[test]
fn a_collection_whose_server_is_not_there_stops_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let models = Server::start(|_| String::new(), |_| Act::Answer).unwrap();
    // Nobody listens where somebody did.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let spec = format!("qdrant://127.0.0.1:{port}/docs");
    let retriever = format!("[[retriever]]\nname = \"theirs\"\nspec = \"{spec}\"\nretries = 0\ntimeout_seconds = 5\n");
    experiment(root, "", &retriever, false);
    let mut set: Value = serde_json::from_str(&fs::read_to_string(root.join("questions.json")).unwrap()).unwrap();
    // More questions than are tried in vain.
    for article in set["data"].as_array_mut().unwrap() {
        let qas = article["paragraphs"][0]["qas"].as_array_mut().unwrap();
        let mut second = qas[0].clone();
        second["id"] = json!(format!("{}-again", qas[0]["id"].as_str().unwrap()));
        qas.push(second);
    }
    fs::write(root.join("questions.json"), set.to_string()).unwrap();
    let text =
        fs::read_to_string(root.join("x.toml")).unwrap().replace("embedder = \"none\"", "embedder = \"openai:m\"");
    fs::write(root.join("x.toml"), text).unwrap();
    let output = run(root, &[("OPENAI_BASE_URL", &models.base_url())]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("retriever 'theirs': the server has failed 5 items in a row"), "{said}");
    // One attempt each, as `retries` says.
    assert!(said.contains("failed 1 times at"), "{said}");
}
