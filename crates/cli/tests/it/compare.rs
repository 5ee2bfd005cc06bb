//! `pericope compare` and `pericope dataset draft`, `validate`, `review`, as a newcomer types them.

use std::fs;
use std::path::Path;
use std::process::Output;

use pericope_testkit::llm::{Act, Server};
use serde_json::{Value, json};

use crate::common::{model_or_skip, pericope, root, stderr, stdout, without_models};

/// Pages of the handbook whose headings do not ask.
fn pages(folder: &Path) {
    some_pages(folder, usize::MAX);
}

/// So many of them, and one more.
fn some_pages(folder: &Path, most: usize) {
    fs::create_dir_all(folder.join("docs/api")).unwrap();
    let from = fs::read_dir(root().join("corpora/handbook")).unwrap();
    let mut paths: Vec<_> = from.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.into_iter().take(most) {
        let text = fs::read_to_string(&path).unwrap();
        let plain: Vec<&str> = text.lines().filter(|line| !(line.starts_with('#') && line.ends_with('?'))).collect();
        fs::write(folder.join("docs").join(path.file_name().unwrap()), plain.join("\n")).unwrap();
    }
    let table = "# Pump settings\n\nEvery pump reads these.\n\n| setting | meaning |\n|---|---|\n\
        | `max_wait` | seconds until the pump gives up its work |\n| `retries` | tries after the first one has failed |\n\n\
        ## Words\n\nA priming cup is a small vessel above the pump that is filled before the start.\n";
    fs::write(folder.join("docs/api/pump.md"), table).unwrap();
}

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// Semantic chunkers read with MiniLM, whatever finds the chunks.
#[test]
fn another_embedder_needs_no_minilm() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    some_pages(at, 8);
    let output = run(at, &["compare", "docs", "--questions", "20", "--embedder", "hashed", "--json"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let said = "the model minilm is not installed: no semantic chunker is compared";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let names: Vec<&str> =
        report["summary"]["chunkers"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fixed", "same-size", "recursive", "structure", "texttiling"]);
    // With chunkers of one's own alone, what finds the chunks is still said, and nothing else is missed.
    let own = ["compare", "docs", "--questions", "20", "--only", "--chunker", "structure", "--chunker", "paragraph"];
    let said = stderr(&run(at, &[&own[..], &["--out", "words"]].concat()));
    assert!(said.contains("the model minilm is not installed: chunks are found by words alone (BM25)"), "{said}");
    let said = stderr(&run(at, &[&own[..], &["--out", "hashed", "--embedder", "hashed"]].concat()));
    assert!(!said.contains("minilm"), "{said}");
}

#[test]
fn documents_alone_are_enough_for_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    fs::write(at.join("docs/broken.pdf"), "no pdf").unwrap();
    let args = ["compare", "docs", "--questions", "60", "--chunker", "tiny=fixed:words=8"];
    let output = run(at, &args);
    assert_eq!(code(&output), Some(1), "a file could not be read: {}", stderr(&output));
    assert!(stderr(&output).contains("broken.pdf"), "{}", stderr(&output));
    let out = at.join("pericope-compare");
    let summary = read(&out.join("run/summary.json"));
    // For other programs: a file that was left out fails, and the badge names the chunker to take.
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let junit = text("junit.xml");
    assert!(
        junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("message=\"1\u{a0}file could not be read\""),
        "{junit}"
    );
    assert!(text("badge.svg").contains(summary["verdict"]["recommended"].as_str().unwrap()));
    assert!(text("metrics.prom").contains("pericope_questions{experiment=\"compare\"} 60.0\n"));
    let sentence = summary["verdict"]["sentence"].as_str().unwrap();
    let said = stdout(&output);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Terminals get plain blanks and signs.
    let plain = |text: &str| words(&text.replace(['−', '–'], "-").replace("<\u{a0}", "< "));
    assert!(words(&said).starts_with(&plain(sentence)), "the verdict comes first: {said}\n{sentence}");
    assert!(said.contains("pericope eval run pericope-compare/compare.toml --out pericope-compare/run"), "{said}");
    assert!(said.contains("by kind of question") && said.contains("terms (10)"), "{said}");
    let names: Vec<&str> =
        summary["chunkers"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fixed", "same-size", "recursive", "structure", "texttiling", "tiny"]);
    assert_eq!(summary["questions"], 60);
    // The documents are those of the folder, and their bytes keep their places.
    let questions = read(&out.join("questions.json"));
    let mut masked = 0;
    for article in questions["data"].as_array().unwrap() {
        let source = fs::read_to_string(at.join("docs").join(article["id"].as_str().unwrap())).unwrap();
        let context = article["paragraphs"][0]["context"].as_str().unwrap();
        assert_eq!(context.len(), source.len());
        for qa in article["paragraphs"][0]["qas"].as_array().unwrap() {
            let (start, end) = (qa["bytes"]["start"].as_u64().unwrap(), qa["bytes"]["end"].as_u64().unwrap());
            let span = start as usize..end as usize;
            assert_eq!(&context[span.clone()], qa["answers"][0]["text"].as_str().unwrap());
            if qa["kind"] == "heading" {
                masked += 1;
                let own = qa["question"].as_str().unwrap().rsplit(": ").next().unwrap();
                assert!(!context[..span.start].ends_with(own) && !context.contains(&format!("# {own}\n")), "{own}");
            } else if !context[span.clone()].contains('§') {
                assert_eq!(context[span.clone()], source[span]);
            }
        }
    }
    assert!(masked > 5, "{masked}");
    // What it wrote can be run again, and gives the same.
    let again = run(at, &["eval", "run", "pericope-compare/compare.toml", "--out", "again", "--json"]);
    assert_eq!(code(&again), Some(0), "{}", stderr(&again));
    assert_eq!(read(&at.join("again/summary.json"))["verdict"], summary["verdict"]);
}

#[cfg(unix)]
#[test]
fn with_the_model_chunks_are_found_by_meaning_too_and_a_program_of_the_users_takes_part() {
    if !model_or_skip("with_the_model_chunks_are_found_by_meaning_too_and_a_program_of_the_users_takes_part") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    some_pages(at, 2);
    let mut files: Vec<_> = fs::read_dir(at.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.push(at.join("docs/api/pump.md"));
    // A program that cuts every page in two, as the page is known by its name. Masked headings keep the bytes in their places.
    let cases = files.iter().map(|path| {
        let name = path.strip_prefix(at.join("docs")).unwrap().display().to_string();
        let text = fs::read_to_string(path).unwrap();
        let middle = text.find("\n\n").unwrap();
        let chunks = json!({"chunks": [{"start": 0, "end": middle}, {"start": middle, "end": text.trim_end().len()}]});
        format!("  *'\"{name}\"'*) echo '{chunks}';;\n")
    });
    let script = format!("while read -r line; do case $line in\n{}esac; done", cases.collect::<String>());
    fs::write(at.join("cut.sh"), script).unwrap();
    let args = ["compare", "docs", "--questions", "12", "--chunker", "halves=command:/bin/sh cut.sh", "--json"];
    let output = pericope(at).args(args).output().unwrap();
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let summary = &said["summary"];
    let rows = summary["chunkers"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fixed", "same-size", "recursive", "structure", "fusion", "topic", "halves"]);
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(
        (&row("halves")["chunks"], &row("halves")["spec"]),
        (&json!(6), &json!("command:/bin/sh cut.sh,max_tokens=0"))
    );
    // The control has the size of the semantic one.
    let (control, size) = (&row("same-size")["same_size"], row("fusion")["mean_words"].as_f64().unwrap());
    assert_eq!(
        (&control["reference"], control["reference_words"].as_f64()),
        (&json!("fusion"), Some(size)),
        "{control}"
    );
    // Vectors were there to search by.
    let config = fs::read_to_string(at.join("pericope-compare/compare.toml")).unwrap();
    assert!(config.contains("embedder = \"minilm\"") && config.contains("modes = [\"hybrid\"]"), "{config}");
    let record = read(&at.join("pericope-compare/run/run.json"));
    let sum = record["checksums"]["models"]["minilm"].as_str().unwrap();
    assert_eq!(sum.len(), 64, "{record}");
    let cells = summary["cells"].as_array().unwrap();
    // Seven chunkers at one k and three budgets, each with what was found.
    assert_eq!(cells.len(), 28);
    for cell in cells {
        assert_eq!((&cell["mode"], &cell["failed"]), (&json!("hybrid"), &json!(0)), "{cell}");
        assert!(cell["metrics"]["span_recall"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{cell}");
    }
    let of = |name: &str| {
        let found = |cell: &&Value| cell["chunker"] == name && cell["token_budget"] == 1024;
        cells.iter().find(found).unwrap()["metrics"]["span_recall"].as_f64().unwrap()
    };
    assert!(names.iter().all(|name| of(name) > 0.2), "most answers lie within 1,024 tokens: {cells:?}");
    let verdict = &summary["verdict"];
    assert_eq!((&verdict["primary"]["baseline"], &verdict["primary"]["mode"]), (&json!("fixed"), &json!("hybrid")));
    assert!(
        names.contains(&verdict["recommended"].as_str().unwrap()) && verdict["sentence"] == said["sentence"],
        "{verdict}"
    );
    // The user's own is weighed like the others.
    let p_best = verdict["p_best"].as_object().unwrap();
    assert!(names.iter().all(|name| p_best.contains_key(*name)), "{p_best:?}");
    let primary = summary["comparisons"].as_array().unwrap().iter().filter(|c| c["family"] == "primary");
    let against: Vec<&Value> = primary.filter(|c| c["a"] == "halves" || c["b"] == "halves").collect();
    assert_eq!(against.len(), 1, "{against:?}");
}

#[test]
fn what_the_user_changed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    some_pages(at, 8);
    let args =
        ["compare", ".", "--questions", "20", "--only", "--chunker", "structure", "--chunker", "paragraph", "--json"];
    let first = run(at, &args);
    assert_eq!(code(&first), Some(0), "{}", stderr(&first));
    let said: Value = serde_json::from_str(&stdout(&first)).unwrap();
    let kinds = said["kinds"].as_array().unwrap();
    let counted: u64 = kinds.iter().map(|kind| kind["questions"].as_u64().unwrap()).sum();
    assert_eq!(counted, 20, "{kinds:?}");
    assert!(
        kinds.iter().all(|kind| kind["means"]["structure"].as_f64().is_some_and(|mean| (0.0..=1.0).contains(&mean)))
    );
    assert!(said["sentence"].as_str().is_some_and(|s| !s.is_empty()), "{said}");
    assert_eq!((said["skipped"].as_u64(), said["summary"]["questions"].as_u64()), (Some(0), Some(20)));
    // Its own files are none of the documents, and may be written again.
    let second = run(at, &args);
    assert_eq!(code(&second), Some(0), "{}", stderr(&second));
    let again: Value = serde_json::from_str(&stdout(&second)).unwrap();
    assert_eq!(again["summary"]["documents"], said["summary"]["documents"]);
    assert_eq!(again["summary"]["verdict"], said["summary"]["verdict"]);
    // Nor are those of a comparison into another folder, which a note names.
    let third = run(at, &[&args[..], &["--out", "third"]].concat());
    assert_eq!(code(&third), Some(0), "{}", stderr(&third));
    assert!(stderr(&third).contains("pericope-compare: pericope compare wrote it"), "{}", stderr(&third));
    let again: Value = serde_json::from_str(&stdout(&third)).unwrap();
    assert_eq!(again["summary"]["documents"], said["summary"]["documents"]);
    let questions = at.join("pericope-compare/questions.json");
    let mine = fs::read_to_string(&questions).unwrap() + "\n";
    fs::write(&questions, &mine).unwrap();
    let third = run(at, &args);
    assert_eq!(code(&third), Some(2), "{}", stderr(&third));
    assert!(stderr(&third).contains("pericope eval run pericope-compare/compare.toml"), "{}", stderr(&third));
    assert_eq!(fs::read_to_string(&questions).unwrap(), mine);
    let kept =
        ["compare", "--questions-file", "pericope-compare/questions.json", "--out", "b", "--only", "-c", "structure"];
    let kept = run(at, &[&kept[..], &["-c", "paragraph"]].concat());
    assert_eq!(code(&kept), Some(0), "{}", stderr(&kept));
    assert!(!at.join("b/questions.json").exists() && at.join("b/run/index.html").is_file());
    // A question whose answer is gone is left out, counted, and no success.
    let mut lost = read(&questions);
    let articles = lost["data"].as_array_mut().unwrap().iter_mut();
    let mut qas = articles.map(|article| article["paragraphs"][0]["qas"].as_array_mut().unwrap());
    qas.find(|qas| !qas.is_empty()).unwrap()[0]["answers"][0]["text"] = json!("It stands nowhere at all.");
    fs::write(at.join("lost.json"), lost.to_string()).unwrap();
    let of_lost = ["compare", "--questions-file", "lost.json", "--out", "c", "--only", "-c", "structure"];
    let of_lost = run(at, &[&of_lost[..], &["-c", "paragraph"]].concat());
    assert_eq!(code(&of_lost), Some(1), "{}", stderr(&of_lost));
    assert!(stdout(&of_lost).contains("1 part of the data"), "{}", stdout(&of_lost));
    let again = run(at, &["eval", "run", "c/compare.toml", "--out", "d", "--json"]);
    assert_eq!(code(&again), Some(1), "{}", stderr(&again));
    let summary: Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!((&summary["left_out"], &summary["questions"]), (&json!(1), &json!(19)));
    assert!(fs::read_to_string(at.join("d/summary.md")).unwrap().contains("part of the data"));
    assert!(fs::read_to_string(at.join("c/junit.xml")).unwrap().contains("questions that were left out"));
}

#[test]
fn wrong_usage_is_told_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    fs::create_dir(at.join("thin")).unwrap();
    fs::write(at.join("thin/a.md"), "Word.\n").unwrap();
    fs::create_dir(at.join("asks")).unwrap();
    fs::write(at.join("asks/a.md"), "# Why does the pump stop so early?\n\nIt has no water.\n").unwrap();
    fs::write(at.join("none.json"), "{\"data\": []}").unwrap();
    for (args, says) in [
        (&["compare"][..], "<PATH>"),
        (&["dataset", "validate", "none.json"], "there is no question in it"),
        (&["compare", "docs", "--chunker", "fixd"], "fixd"),
        (&["compare", "docs", "--only", "--chunker", "structure"], "only one chunker"),
        (&["compare", "none-such"], "no such file"),
        (&["compare", "thin"], "no question can be drafted"),
        (&["compare", "--questions-file", "none.json", "--questions", "9"], "cannot be used with"),
        (&["compare", "--questions-file", "none.json", "--glob", "*.md"], "cannot be used with"),
        (&["dataset", "synthetic", "asks", "--out", "s.jsonl", "--parts", "3"], "--parts 3: each part is from another"),
        (&["compare", "docs", "--glob", "*.none"], "is called as --glob wants it: *.none"),
        (
            &["dataset", "from-docs", "asks", "--out", "q.json", "--min-answer-words", "900"],
            "1 left out, the first: 'Why",
        ),
        (&["dataset", "draft", "docs", "--out", "q.json", "--kinds", "riddle"], "riddle"),
    ] {
        let output = run(at, args);
        assert_eq!(code(&output), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn drafts_are_the_same_for_a_seed_and_hold_their_own_checks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    let draft = |out: &str, seed: &str| {
        let output =
            run(at, &["dataset", "draft", "docs", "--out", out, "--questions", "80", "--seed", seed, "--json"]);
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let report = draft("a.json", "7");
    draft("b.json", "7");
    draft("c.json", "8");
    let text = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    assert_eq!(text("a.json"), text("b.json"));
    assert_ne!(text("a.json"), text("c.json"));
    assert_eq!(report["questions"], 80);
    let kinds = report["kinds"].as_object().unwrap();
    // Half are about sections, half about a few sentences.
    let of = |kind: &str| kinds.get(kind).and_then(Value::as_u64).unwrap_or_default();
    assert_eq!(of("asked") + of("heading"), 40, "{kinds:?}");
    assert!(["definition", "table", "terms"].iter().all(|kind| of(kind) >= 10), "{kinds:?}");
    let found = run(at, &["dataset", "validate", "a.json", "--json"]);
    let found: Value = serde_json::from_str(&stdout(&found)).unwrap();
    assert_eq!((found["broken"].as_u64(), found["questions"].as_u64()), (Some(0), Some(80)), "{found}");
    assert!(found["doubtful"].as_u64() < Some(4), "{found}");
    assert!(found["hardness"]["document_in_ten"].as_f64() > Some(0.8), "{}", found["hardness"]);
}

/// The other kinds fill up, and that is said.
#[test]
fn drafts_of_pages_with_few_headings_say_how_few_ask_for_sections() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("flat")).unwrap();
    let terms = ["badger", "lantern", "harbour", "kettle", "meadow", "ladder", "saddle", "copper", "thimble", "walnut"];
    let line =
        |term: &&str| format!("A {term} cup is a small vessel that the {term} keeper fills before each storm.\n\n");
    fs::write(at.join("flat/a.md"), format!("# Cups\n\n{}", terms.iter().map(line).collect::<String>())).unwrap();
    let flat = run(at, &["dataset", "draft", "flat", "--out", "flat.json"]);
    assert_eq!(code(&flat), Some(0), "{}", stderr(&flat));
    assert!(stdout(&flat).contains("ask for a section, not half"), "{}", stdout(&flat));
    let flat = run(at, &["dataset", "draft", "flat", "--out", "flat.json", "--json"]);
    let report: Value = serde_json::from_str(&stdout(&flat)).unwrap();
    assert!(report["only_sections"].as_u64() < Some(2), "{report}");
    assert!(stderr(&flat).contains("ask for a section, not half"), "{}", stderr(&flat));
}

#[test]
fn questions_are_reviewed_and_broken_ones_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    assert_eq!(code(&run(at, &["dataset", "draft", "docs/api", "--out", "q.json"])), Some(0));
    let page = run(at, &["dataset", "review", "q.json", "--out", "review.html"]);
    assert_eq!(code(&page), Some(0), "{}", stderr(&page));
    let page = fs::read_to_string(at.join("review.html")).unwrap();
    assert!(page.contains("max_wait: meaning") && page.contains("Content-Security-Policy"));
    let sha256 = page.split_once("\"sha256\":\"").unwrap().1.split_once('"').unwrap().0.to_owned();
    let questions = read(&at.join("q.json"));
    let id = questions["data"][0]["paragraphs"][0]["qas"][0]["id"].clone();
    let decisions = json!({"sha256": sha256, "decisions": [{"number": 1, "id": id, "decision": "drop"}]});
    fs::write(at.join("decisions.json"), decisions.to_string()).unwrap();
    let kept = run(at, &["dataset", "review", "q.json", "--apply", "decisions.json", "--out", "kept.json"]);
    assert_eq!(code(&kept), Some(0), "{}", stderr(&kept));
    let left = |file: &str| read(&at.join(file))["data"][0]["paragraphs"][0]["qas"].as_array().unwrap().len();
    assert_eq!(left("kept.json") + 1, left("q.json"));
    let own = run(at, &["dataset", "review", "q.json", "--apply", "decisions.json", "--out", "./q.json"]);
    assert_eq!(code(&own), Some(2), "{}", stderr(&own));
    let broken =
        fs::read_to_string(at.join("kept.json")).unwrap().replacen("\"answer_start\": ", "\"answer_start\": 9", 1);
    fs::write(at.join("kept.json"), broken).unwrap();
    let output = run(at, &["dataset", "validate", "kept.json"]);
    assert_eq!(code(&output), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("1 broken"), "{}", stdout(&output));
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    let known = "{\"id\":\"a\",\"sentences\":[\"One.\",\"Two.\"],\"boundaries\":[1]}\n";
    fs::create_dir(at.join("parts")).unwrap();
    for name in ["known.jsonl", "parts/train.jsonl"] {
        fs::write(at.join(name), known).unwrap();
    }
    fs::write(at.join("docs/page.md"), "# Bees\n\nHow do they fly? They fly with four wings of theirs.\n").unwrap();
    let read_again = ["docs/page.md", "known.jsonl", "parts/train.jsonl"];
    let before = read_again.map(|name| fs::read(at.join(name)).unwrap());
    for args in [
        &["dataset", "from-docs", "docs/page.md", "--out", "./docs/page.md"][..],
        &["dataset", "from-docs", "docs", "--out", "docs/page.md"],
        &["dataset", "from-docs", "docs", "--out", "new.json", "--segmentation", "docs/api/../page.md"],
        &["dataset", "draft", "docs", "--out", "docs/page.md"],
        &["dataset", "classes", "docs/page.md", "docs/api", "--out", "docs/page.md"],
        &["dataset", "synthetic", "docs", "--out", "docs/page.md"],
        &["dataset", "synthetic", "known.jsonl", "--out", "./known.jsonl"],
        &["dataset", "split", "--data", "parts", "--out", "parts"],
        &["segment-eval", "--data", "known.jsonl", "-s", "sentence", "--per-document", "./known.jsonl"],
        &["segment-eval", "--data", "known.jsonl", "-s", "sentence", "--plot", "known.jsonl"],
    ] {
        let output = run(at, args);
        assert_eq!(code(&output), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("it is among what is read"), "{args:?}: {}", stderr(&output));
    }
    assert_eq!(read_again.map(|name| fs::read(at.join(name)).unwrap()), before);
    let both = run(at, &["dataset", "from-docs", "docs", "--out", "both.json", "--segmentation", "both.json"]);
    assert_eq!(code(&both), Some(2), "{}", stderr(&both));
    // What an earlier run wrote is no document, and is written anew.
    for _ in 0..2 {
        let output = run(at, &["dataset", "draft", "docs", "--out", "docs/q.json"]);
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    }
}

#[test]
fn a_model_writes_questions_and_invents_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    // It quotes the first words of the passage, and invents a quotation where the passage speaks of water.
    let server = Server::start(
        |seen| {
            let (_, body) = seen.prompt.split_once("[begin passage").unwrap();
            let (_, body) = body.split_once('\n').unwrap();
            let (body, _) = body.split_once("\n[end passage").unwrap();
            let words: Vec<&str> = body.split_whitespace().take(9).collect();
            let quote = if body.contains("water") { "No page says this at all.".to_owned() } else { words.join(" ") };
            json!({"question": format!("Where is it said of {}?", words.join(" ")), "quote": quote}).to_string()
        },
        |_| Act::Answer,
    )
    .unwrap();
    let config = format!(
        "[llm.generator]\nprovider = \"openai\"\nmodel = \"writer\"\nbase_url = \"{}\"\nprice = {{ input = 1.0, output = 2.0 }}\n\
         [limits]\nbudget = 5.0\n",
        server.base_url()
    );
    fs::write(at.join("model.toml"), config).unwrap();
    let args = ["dataset", "draft", "docs", "--out", "q.json", "--llm", "model.toml", "--questions", "12", "--json"];
    let dry = run(at, &[&args[..], &["--dry-run"]].concat());
    assert_eq!((code(&dry), server.calls()), (Some(0), 0), "{}", stderr(&dry));
    let dry: Value = serde_json::from_str(&stdout(&dry)).unwrap();
    // Twice as many passages as questions, each twice.
    assert_eq!(dry["calls"], 48);
    assert!(dry["price"].as_f64() > Some(0.0), "{dry}");
    assert!(!at.join("q.json").exists());
    let output = run(at, &args);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["kinds"]["model"], report["questions"]);
    assert!(report["questions"].as_u64() > Some(5), "{report}");
    assert!(report["model"]["failed"].as_u64() > Some(0), "an invented quotation is no answer: {report}");
    assert!(!fs::read_to_string(at.join("q.json")).unwrap().contains("No page says this"));
    assert_eq!(code(&run(at, &["dataset", "validate", "q.json"])), Some(0));
    // What was asked once is not asked again, and what cannot be compared asks nothing.
    let calls = server.calls();
    for wrong in [["--embedder", "bogus"], ["-c", "fixed:words=0"]] {
        let args = ["compare", "docs", "--llm", "model.toml", "--questions", "9", "--seed", "3"];
        let refused = run(at, &[&args[..], &wrong].concat());
        assert_eq!(code(&refused), Some(2), "{}", stderr(&refused));
        assert_eq!(server.calls(), calls, "{}", stderr(&refused));
    }
    let again = run(at, &args);
    assert_eq!(code(&again), Some(0), "{}", stderr(&again));
    assert_eq!(server.calls(), calls);
}

#[test]
fn a_price_is_said_before_anything_is_paid_or_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    let model = "[llm.generator]\nprovider = \"openai\"\nmodel = \"writer\"\nprice = { input = 1.0, output = 2.0 }\n\
        tokens_per_minute = 1000\n";
    fs::write(at.join("model.toml"), model).unwrap();
    let plain = run(at, &["compare", "docs", "--embedder", "none", "--dry-run"]);
    assert_eq!(code(&plain), Some(0), "{}", stderr(&plain));
    assert!(stdout(&plain).contains("No model that costs anything is asked."), "{}", stdout(&plain));
    let args =
        ["compare", "docs", "--embedder", "openai:e", "--only", "-c", "structure", "-c", "paragraph", "--dry-run"];
    let dry = run(at, &[&args[..], &["--llm", "model.toml"]].concat());
    assert_eq!(code(&dry), Some(0), "{}", stderr(&dry));
    let said = stdout(&dry);
    for part in
        ["writer", "embedder", "a quarter of that.", "Money: at most about", ", without e, whose price is not known"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let json = run(at, &[&args[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&stdout(&json)).unwrap();
    let sizes = fs::read_dir(at.join("docs")).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
    let bytes: u64 = sizes.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum();
    let bytes = bytes + fs::metadata(at.join("docs/api/pump.md")).unwrap().len();
    // Two chunkers embed everything, a token for four letters, and the questions come to it.
    let tokens = found["models"][0]["prompt_tokens"].as_u64().unwrap();
    let questions = found["questions"].as_u64().unwrap() * 50;
    let most = bytes / 2 + questions + 60;
    assert!(tokens > bytes / 4 + questions && tokens <= most, "{tokens} of {bytes} bytes: {found}");
    assert!(said.contains("Seconds: at least"), "{said}");
    assert!(!at.join("pericope-compare").exists());
}

/// Headings that became questions are taken out of the documents, which the chunks of others know nothing of.
#[cfg(unix)]
#[test]
fn chunks_and_passages_of_others_are_those_of_the_documents_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    let cut = run(at, &["segment", "docs", "--segmenter", "structure", "--format", "json"]);
    assert_eq!(code(&cut), Some(0), "{}", stderr(&cut));
    let chunks: Vec<Value> = stdout(&cut).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts = chunks.iter().map(|chunk| {
        // The path as it was typed names a document too.
        assert!(chunk["document"].as_str().unwrap().starts_with("docs/"), "{chunk}");
        format!("{}\n", json!({"document": chunk["document"], "text": chunk["text"]}))
    });
    fs::write(at.join("texts.jsonl"), texts.collect::<String>()).unwrap();
    let ranges = chunks.iter().map(|chunk| {
        let id = chunk["document"].as_str().unwrap();
        let source = fs::read_to_string(at.join(id)).unwrap();
        let count = |end: &Value| source[..end.as_u64().unwrap() as usize].chars().count();
        format!("{}\n", json!({"document": &id[5..], "start": count(&chunk["start"]), "end": count(&chunk["end"])}))
    });
    fs::write(at.join("ranges.jsonl"), ranges.collect::<String>()).unwrap();
    let specs = ["-c", "structure", "-c", "texts=chunks:texts.jsonl", "-c", "ranges=chunks:ranges.jsonl,offsets=chars"];
    let args = ["compare", "docs", "--embedder", "none", "--only", "--questions", "40", "--json"];
    let output = run(at, &[&args[..], &specs].concat());
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let questions = fs::read_to_string(at.join("pericope-compare/questions.json")).unwrap();
    assert!(questions.contains('§') && questions.contains("\"path\""), "no heading became a question");
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let rows = found["summary"]["chunkers"].as_array().unwrap();
    for name in ["texts", "ranges"] {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        assert_eq!(row["chunks"], json!(chunks.len()), "{row}");
    }
    for cell in found["summary"]["cells"].as_array().unwrap() {
        assert_eq!(cell["failed"], 0, "{cell}");
    }
    // A service that was filled with the same documents.
    let questions: Value = serde_json::from_str(&questions).unwrap();
    let mut articles = questions["data"].as_array().unwrap().iter();
    let article = articles.find(|article| article["paragraphs"][0]["masked"].is_array()).unwrap();
    let words = article["paragraphs"][0]["masked"][0]["text"].as_str().unwrap();
    let holds = |chunk: &&Value| {
        chunk["document"] == article["path"] && chunk["text"].as_str().is_some_and(|text| text.contains(words))
    };
    let answer = json!({"hits": [{"text": chunks.iter().find(holds).unwrap()["text"]}]});
    fs::write(at.join("answer.json"), format!("{answer}\n")).unwrap();
    fs::write(at.join("find.sh"), "while read -r line; do cat answer.json; done").unwrap();
    let config = fs::read_to_string(at.join("pericope-compare/compare.toml")).unwrap();
    let retriever = "[[retriever]]\nname = \"theirs\"\nspec = \"command:/bin/sh find.sh\"\n";
    fs::write(at.join("pericope-compare/theirs.toml"), format!("{config}\n{retriever}")).unwrap();
    let output = run(at, &["eval", "run", "pericope-compare/theirs.toml", "--out", "theirs"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let rows = read(&at.join("theirs/summary.json"))["chunkers"].clone();
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "theirs").unwrap();
    assert_eq!(row["retriever"], json!({"passages": found["summary"]["questions"], "unplaced": 0}), "{row}");
}

#[cfg(unix)]
#[test]
fn failed_items_count_in_every_kind_and_the_next_command_asks_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    // It cuts the first document that it gets and fails on all others.
    let script =
        r#"read -r line; echo '{"chunks":[{"start":0,"end":9}]}'; while read -r line; do echo '{"error":"no"}'; done"#;
    fs::write(at.join("bad.sh"), script).unwrap();
    let args = ["compare", "docs", "--embedder", "none", "--only", "-c", "structure", "-c", "bad=command:sh 'bad.sh'"];
    let output = run(at, &[&args[..], &["--questions", "20", "--json"]].concat());
    assert_eq!(code(&output), Some(1), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let (mut sum, mut questions) = (0.0, 0.0);
    for kind in found["kinds"].as_array().unwrap() {
        let n = kind["questions"].as_f64().unwrap();
        sum += n * kind["means"]["bad"].as_f64().unwrap();
        questions += n;
    }
    let cells = found["summary"]["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["chunker"] == "bad" && cell["token_budget"] == 1024).unwrap();
    assert!(cell["failed"].as_u64() > Some(5) && questions == 20.0, "{cell}");
    assert!((sum / questions - cell["metrics"]["span_recall"].as_f64().unwrap()).abs() < 1e-9, "{found}");
    // Two that cut alike are not told apart: more questions are proposed, of the same chunkers.
    let args =
        ["compare", "docs", "--embedder", "none", "--only", "-c", "a=structure", "-c", "b=structure:max_tokens=256"];
    let output = run(at, &[&args[..], &["-c", "bad=command:sh 'bad.sh'", "--questions", "12", "--out", "b"]].concat());
    let words = r"docs --chunker a=structure --chunker b=structure:max_tokens=256 --chunker 'bad=command:sh '\''bad.sh'\''' --only";
    let proposed = format!("pericope compare {words} --embedder none --questions 36 --out b");
    assert!(stdout(&output).contains(&proposed), "{}", stdout(&output));
}
