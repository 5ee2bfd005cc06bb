//! `--rerank` in searches, experiments and the server: a service that stands in for Cohere's and TEI's, and a small
//! cross-encoder.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use pericope_testkit::llm::{Act, Seen, Server};
use pericope_testkit::qdrant;
use serde_json::{Value, json};

use crate::common::{SMALL_EXPERIMENT, model_or_skip, pericope, root, stderr, stdout, three_questions, without_models};

const PAGE: &str = "# Pumps\n\nPrime the pump before use. Water rises at once.\n\n## Errors\n\nThe pump hums. It stays dry. \
    Bleed it.\n\n## Care\n\nOil the pump each spring. Drain it before a frost.\n";

/// The passages of a request, in either form.
fn passages(seen: &Seen) -> Vec<String> {
    let list = seen.body.get("documents").or_else(|| seen.body.get("texts")).and_then(Value::as_array);
    list.into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A service that scores passages by a function of theirs, in the form in which it is asked.
fn service(score: impl Fn(&str) -> f64 + Send + Sync + 'static) -> Server {
    let plan = move |seen: &Seen| {
        let scores = passages(seen).into_iter().enumerate().map(|(i, text)| (i, score(&text)));
        let answer = match seen.body.get("texts") {
            Some(_) => json!(scores.map(|(i, score)| json!({"index": i, "score": score})).collect::<Vec<_>>()),
            None => {
                let results = scores.map(|(i, score)| json!({"index": i, "relevance_score": score}));
                json!({"results": results.collect::<Vec<_>>()})
            }
        };
        Act::Raw(200, answer.to_string())
    };
    Server::start(|_| String::new(), plan).unwrap()
}

/// Short passages are best.
fn short(text: &str) -> f64 {
    -(text.len() as f64)
}

fn run(folder: &Path, args: &[&str], code: i32) -> Output {
    let output = without_models(folder).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
    output
}

/// A page in sentences, in a folder and on a server.
fn indexed(folder: &Path, server: &qdrant::Server) -> [String; 2] {
    fs::create_dir(folder.join("docs")).unwrap();
    fs::write(folder.join("docs/pump.md"), PAGE).unwrap();
    let places = ["x.idx".to_owned(), server.url("docs")];
    for place in &places {
        let index = ["index", "docs", "--into", place, "--segmenter", "sentence", "--tokenizer", "words"];
        run(folder, &[&index[..], &["--embedder", "hashed"]].concat(), 0);
    }
    places
}

fn search(folder: &Path, place: &str, extra: &[&str]) -> Value {
    let args = [&["search", "pump", "--in", place, "--mode", "bm25", "--json"], extra].concat();
    serde_json::from_str(&stdout(&run(folder, &args, 0))).unwrap()
}

fn texts(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

#[test]
fn the_best_hits_come_in_the_order_of_a_service() {
    let (folder, store) = (tempfile::tempdir().unwrap(), qdrant::Server::start().unwrap());
    let folder = folder.path();
    let service = service(short);
    let url = format!("{}/rerank", service.base_url());
    for place in indexed(folder, &store) {
        let plain = search(folder, &place, &[]);
        let all = texts(&plain).len();
        assert!(plain.get("rerank").is_none() && all > 4, "{plain}");
        let before = service.calls();
        let best = search(folder, &place, &["--rerank", &format!("{url}?token=hush-hush-1,model=m"), "--k", "2"]);
        let mut wanted: Vec<&str> = texts(&plain);
        wanted.sort_by_key(|text| text.len());
        assert_eq!(texts(&best), wanted[..2]);
        // The scores are the service's, and the spec is said without what may be secret in it.
        assert_eq!(best["hits"][0]["score"], json!(short(wanted[0])));
        assert_eq!(best["rerank"], json!(format!("{url},model=m")));
        assert_eq!(
            (best["query"].as_str(), best["mode"].as_str(), best["hits"][1]["rank"].as_u64()),
            (Some("pump"), Some("bm25"), Some(2))
        );
        let log = service.log();
        assert_eq!(log.len(), before + 1);
        assert_eq!(log[before].body["model"], "m");
        assert_eq!((log[before].body["query"].as_str(), passages(&log[before]).len()), (Some("pump"), all));
        // Three are scored, so what the search ranks last is not among the best.
        let few = search(folder, &place, &["--rerank", &url, "--rerank-depth", "3", "--k", "1"]);
        assert_eq!(passages(service.log().last().unwrap()).len(), 3);
        assert_eq!(texts(&few).len(), 1);
        // As many as are asked for.
        assert_eq!(texts(&search(folder, &place, &["--rerank", &url, "--rerank-depth", "1", "--k", "4"])).len(), 4);
        // Expanded hits keep the order and the scores, and nothing is scored twice.
        let before = service.calls();
        let whole = search(folder, &place, &["--rerank", &url, "--k", "1", "--expand", "neighbours:1"]);
        assert_eq!((service.calls(), whole["hits"][0]["score"].as_f64()), (before + 1, Some(short(wanted[0]))));
        assert!(texts(&whole)[0].len() > wanted[0].len() && texts(&whole)[0].contains(wanted[0]));
        let groups = search(folder, &place, &["--rerank", &url, "--group"]);
        assert_eq!(groups["groups"][0]["score"], json!(short(wanted[0])));
        assert_eq!(search(folder, &place, &["--rerank", "none"]), plain);
    }
    // A dry run asks nothing and says what would be sent where.
    let before = service.calls();
    let dry = ["search", "pump", "--in", "x.idx", "--mode", "bm25", "--rerank", &url, "--dry-run"];
    let output = run(folder, &dry, 0);
    let said = stderr(&output);
    assert!(said.contains(&format!("up to 50 passages to {url}")) && service.calls() == before, "{said}");
    let said = stdout(&output);
    assert!(said.contains("reranker") && !said.contains("No model that costs anything"), "{said}");
    assert!(said.contains("Money: not known"), "{said}");
    // A search asks once, and with --timing as often as it is repeated.
    for (more, most) in [(&[][..], 1), (&["--timing", "--repeat", "2"][..], 3)] {
        let told = stdout(&run(folder, &[&dry[..], &["--json"], more].concat(), 0));
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["models"][0]["role"], &told["calls"]), (&json!("reranker"), &json!(most)), "{told}");
        let before = service.log().len();
        run(folder, &[&dry[..dry.len() - 1], more].concat(), 0);
        let log = service.log();
        let sent = &log[before..];
        let letters: usize = sent.iter().flat_map(passages).map(|text| text.chars().count()).sum();
        assert_eq!(sent.len(), most);
        assert!(letters as u64 <= 4 * told["models"][0]["prompt_tokens"].as_u64().unwrap(), "{told}");
    }
}

#[test]
fn what_is_wrong_with_a_reranker_is_said() {
    let (folder, store) = (tempfile::tempdir().unwrap(), qdrant::Server::start().unwrap());
    let folder = folder.path();
    let [place, _] = indexed(folder, &store);
    let failed = |spec: &str, code: i32| {
        let said = stderr(&run(folder, &["search", "pump", "--in", &place, "--mode", "bm25", "--rerank", spec], code));
        assert!(said.trim_end().lines().count() == 1, "{said}");
        said
    };
    for (spec, says) in [
        ("bge", "there is no reranker `bge`; known: none, cross-encoder, maxsim, weswin"),
        ("maxsim", "pericope models pull minilm"),
        ("maxsim:embedder=hashed", "there is no embedder \"hashed\""),
        ("cross-encodr:model=x", "did you mean `cross-encoder`?"),
        ("cross-encoder:model=none-such", "there is no config.json in none-such"),
        ("weswin", "pericope models pull minilm"),
        ("http://127.0.0.1:1/rerank,key_env=PERICOPE_TEST_NO_KEY", "PERICOPE_TEST_NO_KEY is not set"),
    ] {
        let said = failed(spec, 2);
        assert!(said.contains(says), "{spec}: {said}");
    }
    // A passage without a score is named.
    let half = Server::start(
        |_| String::new(),
        |seen| {
            let results: Vec<Value> =
                (1..passages(seen).len()).map(|i| json!({"index": i, "relevance_score": 0.5})).collect();
            Act::Raw(200, json!({"results": results}).to_string())
        },
    )
    .unwrap();
    let said = failed(&format!("{}/rerank", half.base_url()), 3);
    assert!(said.contains("passage 1 (\"") && said.contains("has no score"), "{said}");
    let said = failed("http://127.0.0.1:1/rerank,retries=0,time=5", 3);
    assert!(said.contains("the reranker failed"), "{said}");
}

/// A copy of the small random cross-encoder that the encoders' golden tests have.
fn small_model(folder: &Path) {
    let from = root().join("crates/encode/tests/golden/rerank-bert");
    fs::create_dir(folder.join("model")).unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(from.join(file), folder.join("model").join(file)).unwrap();
    }
}

#[test]
fn a_folder_with_a_cross_encoder_reranks() {
    let (folder, store) = (tempfile::tempdir().unwrap(), qdrant::Server::start().unwrap());
    let folder = folder.path();
    let places = indexed(folder, &store);
    small_model(folder);
    let found = places.map(|place| search(folder, &place, &["--rerank", "cross-encoder:model=model", "--k", "3"]));
    assert_eq!(found[0]["rerank"], "cross-encoder:model=model");
    let scores: Vec<f64> =
        found[0]["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.len() == 3 && scores.is_sorted_by(|a, b| a > b), "{scores:?}");
    // The same chunks have the same scores, whatever the store.
    assert_eq!(texts(&found[0]), texts(&found[1]));
    assert_eq!(found[0]["hits"][0]["score"], found[1]["hits"][0]["score"]);
    // In a project the folder is seen from where the command is started.
    run(folder, &["init", "docs", "--embedder", "none"], 0);
    run(folder, &["index", "--tokenizer", "words"], 0);
    let inside = folder.join("docs");
    let args = ["search", "pump", "--json", "--rerank", "cross-encoder:model=../model"];
    let output = without_models(&inside).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn tokens_of_query_and_passage_meet_by_the_vectors_of_an_embedder() {
    if !model_or_skip("tokens_of_query_and_passage_meet_by_the_vectors_of_an_embedder") {
        return;
    }
    let (folder, store) = (tempfile::tempdir().unwrap(), qdrant::Server::start().unwrap());
    let places = indexed(folder.path(), &store);
    let found = |place: &str, query: &str, extra: &[&str]| -> Value {
        let args = ["search", query, "--in", place, "--mode", "bm25", "--json"];
        let output = pericope(folder.path()).args(args).args(extra).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let query = "lubricate the pump";
    let plain = found(&places[0], query, &[]);
    let all = texts(&plain).len();
    let oil = "Oil the pump each spring.";
    assert!(all > 3 && !texts(&plain)[0].ends_with(oil), "words alone find another one: {plain}");
    for place in &places {
        let best = found(place, query, &["--rerank", "maxsim"]);
        assert!(texts(&best)[0].ends_with(oil) && texts(&best).len() == all, "{best}");
        let scores: Vec<f64> =
            best["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert!(
            scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| (-1.0..=1.0).contains(score)),
            "{scores:?}"
        );
        assert_eq!(best["rerank"], "maxsim");
    }
}

#[test]
fn rerankers_are_listed_with_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let said = stdout(&run(folder.path(), &["rerankers"], 0));
    for part in ["none", "cross-encoder", "weswin", "https://HOST/PATH", "key_env", "e.g. https://api.cohere.com"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let list: Value = serde_json::from_str(&stdout(&run(folder.path(), &["rerankers", "--json"], 0))).unwrap();
    let row = |name: &str| list.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((&row("http")["sends"], &row("cross-encoder")["sends"]), (&json!(true), &json!(false)));
    assert_eq!(row("cross-encoder")["keys"][0]["name"], "model");
    assert_eq!(
        (&row("cogltx")["keys"][1]["name"], &row("cogltx")["keys"][1]["default"]),
        (&json!("order"), &json!("0.5"))
    );
}

/// An experiment with a chunker of one spec for each reranker.
fn experiment(folder: &Path, retrieval: &str, rerankers: &[(&str, &str)]) {
    three_questions(folder);
    let head = SMALL_EXPERIMENT.split("[[chunker]]").next().unwrap().replace("k = [1]", "k = [1, 3]");
    let chunkers = rerankers.iter().map(|(name, rerank)| {
        let own = if rerank.is_empty() { String::new() } else { format!("rerank = \"{rerank}\"\n") };
        format!("[[chunker]]\nname = \"{name}\"\nspec = \"sentence\"\n{own}")
    });
    fs::write(folder.join("x.toml"), format!("{head}{retrieval}\n{}", chunkers.collect::<String>())).unwrap();
}

#[test]
fn an_experiment_compares_rerankers_on_one_index() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Whatever is asked, the cat is best: the search finds all three sleepers, the right one first.
    let who = ["nobody", "badger", "sailor", "cat"];
    let service = service(move |text| who.iter().rposition(|name| text.contains(name)).unwrap_or(0) as f64);
    let url = format!("{}/rerank?token=hush-hush-1,model=m", service.base_url());
    small_model(folder);
    experiment(folder, "", &[("none", ""), ("service", &url), ("model", "cross-encoder:model=model,max_tokens=32")]);
    run(folder, &["eval", "run", "x.toml", "--out", "out"], 0);
    let read = |name: &str| fs::read_to_string(folder.join("out").join(name)).unwrap();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let row =
        |name: &str| summary["chunkers"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((row("none").get("rerank"), &row("service")["rerank_depth"]), (None, &json!(50)));
    assert_eq!(row("model")["rerank"], "cross-encoder:model=model,max_tokens=32");
    assert_eq!(row("service")["index_seconds"], row("none")["index_seconds"], "one index for all");
    let of = |name: &str, metric: &str| {
        let cells = summary["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["chunker"] == name && cell["k"] == 1).unwrap()["metrics"][metric].as_f64()
    };
    assert!(of("none", "mrr") == Some(1.0) && of("service", "mrr") < of("none", "mrr"), "{summary}");
    let items: Vec<Value> = read("items.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scores = |name: &str| {
        let item = items.iter().find(|item| item["chunker"] == name && item["k"] == 3).unwrap();
        item["retrieved"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(scores("service"), [3.0, 2.0, 1.0]);
    assert_eq!(service.calls(), 3, "one for each question");
    // The time of a search has the reranker's in it.
    assert!(
        row("service")["query_times"]["bm25"]["p50_ms"].as_f64()
            > row("none")["query_times"]["bm25"]["p50_ms"].as_f64()
    );
    let record: Value = serde_json::from_str(&read("run.json")).unwrap();
    let models = record["checksums"]["models"].as_object().unwrap();
    let fingerprint = |part: &str| {
        let found = models.iter().find(|(name, _)| name.starts_with("rerank ") && name.contains(part)).unwrap().1;
        found.as_str().unwrap().to_owned()
    };
    assert!(
        fingerprint("cross-encoder").ends_with(":32") && fingerprint("/rerank,model=m").starts_with("http:http://")
    );
    for file in ["run.json", "summary.json", "summary.md", "index.html", "chunkers.jsonl", "items.jsonl"] {
        assert!(!read(file).contains("hush-hush"), "{file}");
    }
    // It goes on where it was, and nothing is scored again.
    let resumed = run(folder, &["eval", "run", "x.toml", "--out", "out", "--resume"], 0);
    assert_eq!(service.calls(), 3, "{}", stderr(&resumed));
    let other =
        run(folder, &["eval", "run", "x.toml", "--out", "out", "--resume", "--set", "retrieval.rerank_depth=2"], 2);
    assert!(stderr(&other).contains("another configuration"), "{}", stderr(&other));
}

#[test]
fn what_is_beyond_the_depth_follows_and_failures_are_items() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = service(short);
    experiment(
        folder,
        &format!("rerank = \"{}/r\"\nrerank_depth = 1", good.base_url()),
        &[("a", ""), ("plain", "none")],
    );
    run(folder, &["eval", "run", "x.toml", "--out", "out"], 0);
    let items = |out: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.join(out).join("items.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let found = items("out");
    let of = |name: &str| {
        let item = found.iter().find(|item| item["chunker"] == name && item["k"] == 3).unwrap();
        item["retrieved"].as_array().unwrap().iter().map(|hit| hit["text"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("a"), of("plain"), "one hit cannot change its place");
    assert!(good.log().iter().all(|seen| passages(seen).len() == 1));

    let half = Server::start(
        |_| String::new(),
        |seen| match seen.body["query"].as_str().unwrap().contains("garden") {
            true => Act::Raw(200, "[]".into()),
            false => Act::Raw(200, json!([{"index": 0, "score": 1}]).to_string()),
        },
    )
    .unwrap();
    experiment(folder, &format!("rerank = \"{}/r\"\nrerank_depth = 1", half.base_url()), &[("a", "")]);
    let output = run(folder, &["eval", "run", "x.toml", "--out", "half"], 1);
    assert!(stderr(&output).contains("items failed"), "{}", stderr(&output));
    let failed: Vec<Value> = items("half").into_iter().filter(|item| item["status"] == "failed").collect();
    assert_eq!(failed.len(), 2, "one question at two cutoffs");
    assert!(failed[0]["error"].as_str().unwrap().contains("passage 1 (\""), "{}", failed[0]);

    // What would fail for every question stops the run, and what cannot be opened does not begin it.
    let gone = Server::start(|_| String::new(), |_| Act::Status(404)).unwrap();
    let set = |spec: &str, more: &[&str], code: i32| {
        let set = format!("retrieval.rerank={spec}");
        stderr(&run(folder, &[&["eval", "run", "x.toml", "--out", "no", "--set", &set], more].concat(), code))
    };
    let said = set(&format!("{}/r", gone.base_url()), &[], 3);
    assert!(said.contains("the run was stopped") && said.contains("is no service"), "{said}");
    assert!(set("bge", &[], 2).contains("there is no reranker `bge`"));
    assert!(set("bge", &["--dry-run"], 2).contains("there is no reranker `bge`"));
    assert!(set("https://h.example/rerank", &["--offline"], 2).contains("--offline forbids"));
    let dry = run(folder, &["eval", "run", "x.toml", "--dry-run", "--json"], 0);
    let dry: Value = serde_json::from_str(&stdout(&dry)).unwrap();
    assert_eq!((&dry["models"][0]["role"], &dry["calls"]), (&json!("reranker"), &json!(3)), "{dry}");
}

#[test]
fn settings_name_the_weights_that_ship() {
    let folder = tempfile::tempdir().unwrap();
    experiment(
        folder.path(),
        "rerank = \"weswin\"",
        &[("a", ""), ("b", "weswin:model=mine.safetensors"), ("c", "cogltx")],
    );
    let mut file = fs::OpenOptions::new().append(true).open(folder.path().join("x.toml")).unwrap();
    writeln!(file, "[sweep]\n\"answer.generator\" = [\"best\", \"cogltx\"]").unwrap();
    let output = run(folder.path(), &["eval", "run", "x.toml", "--settings"], 0);
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let settings = &found["settings"];
    assert_eq!(settings["model.rerank.weswin.sha256"], pericope_weights(), "{settings}");
    assert_eq!((&settings["retrieval.rerank"], settings.get("retrieval.rerank_depth")), (&json!("weswin"), None));
    assert_eq!(settings["chunker.b.rerank"], "weswin:model=mine.safetensors");
    assert_eq!(settings.get("model.rerank.weswin:model=mine.safetensors.sha256"), None);
    let judge = json!(pericope_learn::cogltx::shipped().unwrap().sha256());
    for key in ["model.rerank.cogltx.sha256", "model.answer.cogltx.sha256"] {
        assert_eq!(settings[key], judge, "{settings}");
    }
}

#[test]
fn the_judge_that_ships_reranks() {
    let folder = tempfile::tempdir().unwrap();
    let said = stderr(
        &pericope(folder.path())
            .args(["search", "x", "--in", "x.idx", "--rerank", "cogltx:order=11"])
            .output()
            .unwrap(),
    );
    assert!(said.contains("a number from 0 to 10"), "{said}");
    if !model_or_skip("the_judge_that_ships_reranks") {
        return;
    }
    let texts = [
        ("moon.md", "The tide rises and falls twice a day because the moon pulls at the water of the oceans."),
        ("clerk.md", "The clerk drew the seas on the wall, and why the lines rise and fall nobody asked."),
        ("keeping.md", "Store it in a jar in the cold, feed it with flour each week, and the yeast lives for years."),
    ];
    for (name, text) in texts {
        fs::write(folder.path().join(name), text).unwrap();
    }
    run(folder.path(), &["index", ".", "--into", "x.idx", "--embedder", "none", "--segmenter", "sentence"], 0);
    let search = |rerank: &str| {
        let asked = "why do the seas rise and fall";
        let mut command = pericope(folder.path());
        command.args(["search", asked, "--in", "x.idx", "--mode", "bm25", "--rerank", rerank, "--json"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let first = |found: &Value| found["hits"][0]["document"].as_str().unwrap().to_owned();
    // More words of the question stand where nothing answers it.
    assert_eq!(first(&search("none")), "clerk.md");
    let found = search("cogltx:order=0");
    assert!(found["rerank"] == "cogltx:order=0" && first(&found) == "moon.md", "{found}");
}

/// The checksum of the shipped WeSWin.
fn pericope_weights() -> Value {
    json!(pericope_learn::weswin::shipped().unwrap().sha256())
}
