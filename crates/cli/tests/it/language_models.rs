//! Language models that cut documents and place chunks in context, from the command line and against a server over real HTTP.

use std::fs;
use std::path::Path;

use pericope_testkit::llm::{Act, Seen, Server};
use serde_json::{Value, json};

use crate::common::{root, stderr, stdout, without_models};

/// Three pages of four paragraphs; the third of each begins something else.
fn pages(folder: &Path) {
    fs::create_dir(folder.join("docs")).unwrap();
    for (name, machine) in [("a.md", "Harrier"), ("b.md", "Merlin"), ("c.md", "Osprey")] {
        let text =
            format!("The {machine} is a pump.\n\nIt is grey.\n\nNew parts come by post.\n\nIt weighs six kilograms.\n");
        fs::write(folder.join("docs").join(name), text).unwrap();
    }
}

/// Cuts before "New", and places what begins with "It weighs" by the name of the machine.
fn reply(seen: &Seen) -> String {
    if seen.prompt.contains("\nPassages:\n") {
        let numbered = seen.prompt.lines().filter_map(|line| line.split_once(": "));
        let found = numbered.filter(|(number, text)| *number != "1" && text.starts_with("New"));
        let found: Option<u64> = found.filter_map(|(number, _)| number.parse().ok()).next();
        return json!({"id": found.unwrap_or(0)}).to_string();
    }
    let machine =
        ["Harrier", "Merlin", "Osprey"].into_iter().find(|name| seen.prompt.contains(name)).unwrap_or("machine");
    json!({"context": format!("On the {machine}, and what it weighs.")}).to_string()
}

fn server() -> Server {
    Server::start(reply, |_| Act::Answer).unwrap()
}

fn spec(server: &Server) -> String {
    format!("llm:model=m,base_url={}", server.base_url())
}

fn config(folder: &Path, server: &Server) {
    let model = |table: &str| {
        format!(
            "[llm.{table}]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\nretries = 0\n",
            server.base_url()
        )
    };
    fs::write(folder.join("model.toml"), model("segmenter") + &model("context")).unwrap();
}

fn json_of(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

#[test]
fn a_model_cuts_and_what_it_said_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    let server = server();
    let spec = spec(&server);
    let cut = |more: &[&str]| {
        let mut command = without_models(folder.path());
        command.args(["segment", "docs", "--segmenter", &spec, "--format", "json"]).args(more);
        command.output().unwrap()
    };
    let online = cut(&[]);
    assert!(online.status.success(), "{}", stderr(&online));
    let texts: Vec<String> = stdout(&online)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts.len(), 6);
    assert_eq!(texts[1], "New parts come by post.\n\nIt weighs six kilograms.");
    assert!(stderr(&online).contains("groups of passages: 6 asked, 0 of them twice, 0 without"), "{}", stderr(&online));
    // The second time nothing is asked, and without a server it goes as well.
    let calls = server.calls();
    assert_eq!((stdout(&cut(&[])), server.calls()), (stdout(&online), calls));
    drop(server);
    let offline = cut(&["--offline"]);
    assert_eq!(stdout(&offline), stdout(&online));
    assert!(stderr(&offline).contains("6 replies (6 from the cache)"), "{}", stderr(&offline));
    fs::write(folder.path().join("docs/a.md"), "Other.\n\nText.\n").unwrap();
    let lacks = cut(&["--offline"]);
    assert_eq!(lacks.status.code(), Some(1));
    assert!(stderr(&lacks).contains("docs/a.md: the language model: offline, and the answer is not in the cache"));
    assert_eq!(stdout(&lacks).lines().count(), 4, "the others are cut");
}

#[test]
fn a_spec_without_a_model_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    for (spec, says) in [
        ("llm", "llm:model=NAME"),
        ("llm:config=none.toml", "none.toml"),
        ("llm:model=m,provider=gpt", "choose from openai, anthropic, candle"),
        ("llm:model=m,tokens=1", "tokens=1"),
        ("llm:model=m,tau=0.5", "no setting `tau`"),
        ("llm:model=m,base_url=http://me:key@127.0.0.1/v1", "user name"),
        ("llm:model=m,base_url=http://127.0.0.1:1/v1,api_key_env=NO_SUCH_KEY", "NO_SUCH_KEY"),
    ] {
        let output = without_models(folder.path()).args(["segment", "docs", "--segmenter", spec]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{spec}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{spec}: {}", stderr(&output));
    }
}

#[test]
fn segmentations_by_a_model_are_scored() {
    let folder = tempfile::tempdir().unwrap();
    let document = json!({"id": "d", "source": "s", "boundaries": [2],
        "sentences": ["Old one.", "Old two.", "New three.", "New four."]});
    fs::write(folder.path().join("d.jsonl"), format!("{document}\n")).unwrap();
    let server = server();
    config(folder.path(), &server);
    let score = |more: &[&str]| {
        let mut command = without_models(folder.path());
        let output = command.args(["segment-eval", "--data", "d.jsonl", "-s", "llm:config=model.toml", "--json"]);
        json_of(&output.args(more).output().unwrap())
    };
    let found = score(&[]);
    // The first shift is true; the second group begins with it, and "New four." begins like a shift.
    assert_eq!(found["results"][0]["recall"], 1.0, "{found}");
    assert!(found["results"][0]["asked"]["asked"].as_u64().is_some_and(|asked| asked >= 2), "{found}");
    let calls = server.calls();
    assert_eq!(score(&["--offline"])["results"][0]["f1"], found["results"][0]["f1"]);
    assert_eq!(server.calls(), calls);
}

/// Beside the pages: a document with a known boundary, an experiment on it, and a model with a price whose key is not there.
fn priced(folder: &Path, server: &Server) {
    pages(folder);
    let document = json!({"id": "d", "source": "s", "boundaries": [2],
        "sentences": ["Old one.", "Old two.", "New three.", "New four."]});
    fs::write(folder.join("d.jsonl"), format!("{document}\n")).unwrap();
    let model = format!(
        "[llm.segmenter]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         api_key_env = \"A_KEY_THAT_IS_NOT_SET\"\nprice = {{ input = 1.0, output = 2.0 }}\ntokens_per_minute = 100\n\
         [limits]\nbudget = 3.0\n",
        server.base_url()
    );
    fs::write(folder.join("model.toml"), model).unwrap();
    let experiment = "kind = \"segmentation\"\nname = \"s\"\n[[set]]\nname = \"d\"\npath = \"d.jsonl\"\n\
                      [[segmenter]]\nname = \"llm\"\nspec = \"llm:config=model.toml\"\n\
                      [[segmenter]]\nname = \"tt\"\nspec = \"texttiling\"\n";
    fs::write(folder.join("seg.toml"), experiment).unwrap();
}

#[test]
fn a_dry_run_of_what_cuts_says_what_it_costs_and_asks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let server = server();
    priced(folder.path(), &server);
    let before = fs::read_dir(folder.path()).unwrap().count();
    let run = |args: &[&str]| without_models(folder.path()).env_remove("OPENAI_API_KEY").args(args).output().unwrap();
    let cut = ["segment", "docs", "--segmenter", "llm:config=model.toml"];
    let output = run(&[&cut[..], &["--dry-run"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output).replace('\u{a0}', " ");
    for part in
        ["1 segmenter, 3 documents", "Nothing was asked", "at most about", "limits.budget is 3", "Seconds: at least"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let found = json_of(&run(&[&cut[..], &["--dry-run", "--format", "json"]].concat()));
    assert_eq!((&found["models"][0]["role"], &found["calls"]), (&json!("segmenter"), &json!(3)), "{found}");
    assert!(found["price"].as_f64().is_some_and(|price| price > 0.0), "{found}");
    assert!(found["models"][0]["prompt_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{found}");
    // The same as for an index.
    let index = ["index", "docs", "--into", "i", "--embedder", "none", "--segmenter", "llm:config=model.toml"];
    assert_eq!(json_of(&run(&[&index[..], &["--dry-run", "--json"]].concat()))["models"], found["models"]);
    for command in [
        &["segment-eval", "--data", "d.jsonl", "-s", "llm:config=model.toml", "-s", "texttiling"][..],
        &["segment-eval", "seg.toml"],
        &["eval", "run", "seg.toml"],
    ] {
        let found = json_of(&run(&[command, &["--dry-run", "--json"]].concat()));
        assert_eq!((&found["documents"], &found["chunkers"]), (&json!(1), &json!(2)), "{found}");
        assert_eq!((found["models"].as_array().unwrap().len(), &found["calls"]), (1, &json!(1)), "{found}");
    }
    assert_eq!(
        (server.calls(), fs::read_dir(folder.path()).unwrap().count()),
        (0, before),
        "nothing is asked or written"
    );
    // Without the flag the missing key is found.
    assert_eq!(run(&cut).status.code(), Some(2));
}

#[test]
fn a_dry_run_of_what_costs_nothing_says_so() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    let run = |args: &[&str]| {
        let mut command = without_models(folder.path());
        command.env_remove("OPENAI_API_KEY").args(["segment", "docs", "--dry-run"]).args(args).output().unwrap()
    };
    let free = run(&["--segmenter", "texttiling"]);
    assert!(stdout(&free).contains("No model that costs anything is asked."), "{}{}", stdout(&free), stderr(&free));
    assert_eq!(json_of(&run(&["--format", "json"]))["calls"], 0);
    // An endpoint that embeds sentences costs something, too: a request a page, and one for the length of its vectors.
    let paid = json_of(&run(&["--segmenter", "fusion", "--segment-embedder", "openai:e", "--format", "json"]));
    assert_eq!((&paid["models"][0]["role"], &paid["calls"]), (&json!("embedder"), &json!(4)), "{paid}");
    // So it does while settings are tried, and for vectors to train on.
    let document = json!({"id": "d", "source": "s", "boundaries": [1], "sentences": ["Old one.", "New two."]});
    fs::write(folder.path().join("d.jsonl"), format!("{document}\n")).unwrap();
    let tuned =
        "kind = \"tune\"\nsegmenter = \"window:embedder=openai:e\"\ndata = [\"d.jsonl\"]\ngrid = { k = [2, 3] }\n";
    fs::write(folder.path().join("tune.toml"), tuned).unwrap();
    for (args, calls) in [
        (&["tune", "tune.toml", "--dry-run", "--json"][..], 2),
        (&["train", "embed", "--data", "d.jsonl", "--out", "v", "--embedder", "openai:e", "--dry-run", "--json"], 2),
    ] {
        let mut command = without_models(folder.path());
        let found = json_of(&command.env_remove("OPENAI_API_KEY").args(args).output().unwrap());
        assert_eq!((&found["models"][0]["role"], &found["calls"]), (&json!("embedder"), &json!(calls)), "{found}");
    }
    assert!(!folder.path().join("v").exists());
    for wrong in ["texttilin", "llm", "texttiling:no=1"] {
        let output = run(&["--segmenter", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", stdout(&output));
    }
}

#[test]
fn an_index_holds_contexts_and_remembers_who_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    let server = server();
    config(folder.path(), &server);
    let run = |args: &[&str]| without_models(folder.path()).args(args).output().unwrap();
    let index = ["index", "docs", "--into", "docs.idx", "--embedder", "none", "--segmenter", "paragraph"];
    let placed = [&index[..], &["--context-llm", "model.toml"]].concat();
    let dry = json_of(&run(&[&placed[..], &["--dry-run", "--json"]].concat()));
    assert_eq!((&dry["models"][0]["role"], &dry["models"][0]["calls"]), (&json!("context"), &json!(12)), "{dry}");
    // With a price and a rate, money and seconds are said too.
    let known = fs::read_to_string(folder.path().join("model.toml")).unwrap()
        + "price = { input = 1.0, output = 2.0 }\ntokens_per_minute = 1000\n[limits]\nbudget = 3.0\n";
    fs::write(folder.path().join("priced.toml"), known).unwrap();
    let priced = [&index[..], &["--context-llm", "priced.toml", "--dry-run"]].concat();
    let told = json_of(&run(&[&priced[..], &["--json"]].concat()));
    assert!(told["price"].as_f64() > Some(0.0) && told["seconds_at_least"].as_f64() > Some(0.0), "{told}");
    let said = stdout(&run(&priced));
    assert!(said.contains("limits.budget is 3") && said.contains("Seconds: at least"), "{said}");
    assert_eq!(server.calls(), 0);
    let built = run(&[&placed[..], &["--json"]].concat());
    let about = json_of(&built);
    assert_eq!((&about["contexts"]["asked"], &about["contexts"]["failed"]), (&json!(12), &json!(0)), "{about}");
    assert!(about["context"].as_str().is_some_and(|writer| writer.starts_with("openai:model=m:prompt=")), "{about}");
    // No page says "weighs" beside its machine's name: the context does.
    let found = json_of(&run(&["search", "what the Merlin weighs", "--in", "docs.idx", "--k", "3", "--json"]));
    let texts: Vec<&str> = found["hits"].as_array().unwrap().iter().filter_map(|hit| hit["text"].as_str()).collect();
    assert!(found["hits"].as_array().unwrap().iter().all(|hit| hit["document"] == "docs/b.md"), "{found}");
    assert!(texts.contains(&"It weighs six kilograms."), "{found}");
    assert!(texts.iter().all(|text| !text.contains("On the Merlin")), "the text is the source: {found}");
    // What did not change is not asked again; what was deleted and comes again is in the cache.
    let calls = server.calls();
    assert_eq!(json_of(&run(&[&placed[..], &["--json"]].concat()))["contexts"]["asked"], 0);
    let again = json_of(&run(&[&placed[..], &["--rebuild", "--offline", "--json"]].concat()));
    assert_eq!((&again["contexts"]["cached"], server.calls()), (&json!(12), calls));
    // Chunks with contexts and chunks without are not mixed.
    let other = run(&index);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("context") && stderr(&other).contains("openai:model=m"), "{}", stderr(&other));
    let follow = run(&["serve", "--in", "docs.idx", "--follow", "docs", "--bind", "127.0.0.1:0"]);
    assert_eq!(follow.status.code(), Some(2), "{}", stderr(&follow));
    assert!(stderr(&follow).contains("--context-llm"), "{}", stderr(&follow));
}

#[test]
fn documents_wait_for_a_model_that_answers() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    let ill = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_ill = std::sync::Arc::clone(&ill);
    let server = Server::start(reply, move |seen| match seen.prompt.contains("Osprey") {
        true if is_ill.load(std::sync::atomic::Ordering::SeqCst) => Act::Billing,
        _ => Act::Answer,
    })
    .unwrap();
    config(folder.path(), &server);
    let index = || {
        let args = ["index", "docs", "--into", "docs.idx", "--embedder", "none", "--segmenter", "paragraph"];
        let output = without_models(folder.path()).args(args).args(["--context-llm", "model.toml", "--json"]).output();
        let output = output.unwrap();
        (output.status.code(), json_of(&output), stderr(&output))
    };
    let (code, about, said) = index();
    assert_eq!((code, &about["documents"], &about["skipped"]), (Some(1), &json!(2), &json!(1)), "{said}");
    assert!(said.contains("docs/c.md: the language model: ") && said.contains("wants to be paid"), "{said}");
    ill.store(false, std::sync::atomic::Ordering::SeqCst);
    let (code, about, said) = index();
    assert_eq!((code, &about["documents"], &about["contexts"]["failed"]), (Some(0), &json!(3), &json!(0)), "{said}");
}

#[test]
fn a_model_that_answers_for_nothing_is_a_failure_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    let poor = Server::start(reply, |_| Act::Billing).unwrap();
    let of = |url: &str| {
        format!("[llm.segmenter]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\nretries = 0\n")
    };
    // Nobody listens at the one; the other takes nothing.
    for (name, url) in [("down", "http://127.0.0.1:1/v1".to_owned()), ("poor", poor.base_url())] {
        fs::write(folder.path().join(format!("{name}.toml")), of(&url)).unwrap();
        let spec = format!("llm:config={name}.toml");
        for args in [&["segment", "docs"][..], &["index", "docs", "--into", name, "--embedder", "none"]] {
            let run = |more: &[&str]| {
                let mut command = without_models(folder.path());
                command.args(args).args(["--segmenter", &spec]).args(more).output().unwrap()
            };
            let failed = run(&[]);
            let said = stderr(&failed);
            assert_eq!(failed.status.code(), Some(3), "{name} {args:?}: {said}");
            assert!(said.contains("error: no document was cut: the language model: "), "{name} {args:?}: {said}");
            // Nothing was asked, and the input is left out.
            assert_eq!(run(&["--offline"]).status.code(), Some(1), "{name} {args:?}");
        }
    }
}

#[test]
fn a_project_names_the_model_in_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    pages(folder.path());
    let server = server();
    config(folder.path(), &server);
    let run = |args: &[&str]| without_models(folder.path()).args(args).output().unwrap();
    assert!(run(&["init", "docs", "--segmenter", "llm:config=model.toml", "--embedder", "none"]).status.success());
    let settings = folder.path().join(".pericope/pericope.toml");
    let written = fs::read_to_string(&settings).unwrap();
    assert!(written.contains("# context_llm = \"model.toml\""), "{written}");
    fs::write(&settings, written.replace("# context_llm", "context_llm")).unwrap();
    let about = json_of(&run(&["index", "--json"]));
    assert_eq!(
        (&about["chunks"], &about["contexts"]["asked"], &about["asked"]["asked"]),
        (&json!(6), &json!(6), &json!(6))
    );
    assert_eq!(about["segmenter"], "llm:max_tokens=256");
}

/// The experiment that is in the repository, against a server that knows nothing of the handbook.
#[test]
fn the_ceiling_runs_and_is_priced() {
    let folder = tempfile::tempdir().unwrap();
    let server = server();
    let out = folder.path().join("run");
    let run = |more: &[&str]| {
        let mut command = without_models(&root());
        command.env("PERICOPE_LLM_URL", server.base_url()).env("PERICOPE_LLM_MODEL", "stand-in");
        command.args(["eval", "run", "eval/ceiling.toml", "--json", "--out"]).arg(&out).args(more);
        // Without the embedding model: words alone.
        command.args(["--set", "retrieval.embedder=none", "--set", "retrieval.modes=[\"bm25\"]"]);
        command.args(["--set", "compare.primary.mode=bm25", "--set", "data.documents=6", "--set", "data.questions=12"]);
        let chunkers = "chunker=[{name=\"fixed\",spec=\"fixed:words=100\"},{name=\"same-size\",spec=\"same-size:reference=llm\"},\
                        {name=\"llm\",spec=\"llm\"},{name=\"llm-context\",spec=\"llm\",context=\"llm\"}]";
        command.args(["--set", chunkers]).output().unwrap()
    };
    let dry = json_of(&run(&["--dry-run"]));
    let models: Vec<(&Value, &Value)> =
        dry["models"].as_array().unwrap().iter().map(|model| (&model["role"], &model["model"])).collect();
    assert_eq!(models, [(&json!("segmenter"), &json!("stand-in")), (&json!("context"), &json!("stand-in"))]);
    assert_eq!(server.calls(), 0);
    let summary = json_of(&run(&[]));
    let rows = summary["chunkers"].as_array().unwrap();
    assert_eq!((rows.len(), &summary["failed"]), (4, &json!(0)), "{summary}");
    let asked = rows[3]["contexts"]["asked"].as_u64().unwrap();
    assert_eq!(Some(asked), rows[3]["chunks"].as_u64());
    // What was estimated is of the order of what was asked.
    let estimated = dry["calls"].as_u64().unwrap();
    assert!(
        (server.calls() as u64) < 2 * estimated && estimated < 8 * server.calls() as u64,
        "{estimated}: {}",
        server.calls()
    );
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("+ context"), "the page names what was added");
}
