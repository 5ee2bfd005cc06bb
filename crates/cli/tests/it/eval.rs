//! `pericope eval run` from end to end.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{SMALL_EXPERIMENT, model_or_skip, pericope, root, rounded, stderr, stdout, timeless};
use serde_json::Value;

/// The quickstart on some of its questions.
fn run(out: &Path, extra: &[&str]) -> Output {
    let mut args =
        vec!["eval", "run", "eval/quickstart.toml", "--set", "data.questions=24", "--set", "data.documents=9", "--out"];
    args.push(out.to_str().unwrap());
    args.extend(extra);
    pericope(&root()).args(args).output().unwrap()
}

const WORDS_ONLY: [&str; 8] = [
    "--set",
    "retrieval.embedder=none",
    "--set",
    "retrieval.modes=[\"bm25\"]",
    "--set",
    "chunker=[{name=\"fixed\",spec=\"fixed:words=60\"},{name=\"same-size\",spec=\"same-size:reference=blocks\"},{name=\"blocks\",spec=\"paragraph\"}]",
    "--set",
    "retrieval.token_budgets=[200]",
];

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_run_leaves_the_files_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &WORDS_ONLY);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("index.html"));
    let summary = read(&folder.path().join("summary.json"));
    assert_eq!(summary["name"], "quickstart");
    assert_eq!(summary["questions"], 24);
    assert_eq!(summary["failed"], 0);
    assert_eq!(summary["chunkers"].as_array().unwrap().len(), 3);
    // Three chunkers, one mode, k = 1, 3, 5 and one budget.
    let cells = summary["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        for metric in [
            "judge",
            "token_f1",
            "rouge_l",
            "answer_iou",
            "span_recall",
            "span_precision",
            "iou",
            "precision_omega",
            "hit",
            "mrr",
            "ndcg",
        ] {
            let value = cell["metrics"][metric].as_f64().unwrap_or_else(|| panic!("{metric} in {cell}"));
            let top = if metric == "judge" { 10.0 } else { 1.0 };
            assert!((0.0..=top).contains(&value), "{metric} = {value}");
        }
        assert!(cell["k"].is_null() != cell["token_budget"].is_null());
        if let Some(budget) = cell["token_budget"].as_f64() {
            assert!(cell["context_tokens"].as_f64().unwrap() <= budget);
        }
    }
    let of =
        |name: &str, k: u64| cells.iter().find(|c| c["chunker"] == name && c["k"] == k).unwrap()["metrics"].clone();
    for name in ["fixed", "same-size", "blocks"] {
        let (one, five) = (of(name, 1), of(name, 5));
        assert!(one["span_recall"].as_f64() <= five["span_recall"].as_f64());
        assert!(five["hit"].as_f64().unwrap() > 0.3, "{name} finds little: {five}");
    }
    let means = |name: &str| {
        summary["chunkers"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap()["mean_words"]
            .as_f64()
            .unwrap()
    };
    assert!((means("same-size") / means("blocks") - 1.0).abs() < 0.25, "{} {}", means("same-size"), means("blocks"));
    let families: Vec<&str> =
        summary["comparisons"].as_array().unwrap().iter().map(|c| c["family"].as_str().unwrap()).collect();
    // The baseline is the first chunker, the primary cell is span recall within the budget.
    assert_eq!(families.iter().filter(|family| **family == "primary").count(), 2);
    assert!(families[..2].iter().all(|family| *family == "primary"));
    let verdict = &summary["verdict"];
    assert_eq!(
        (&verdict["primary"]["baseline"], &verdict["primary"]["metric"], &verdict["primary"]["token_budget"]),
        (&"fixed".into(), &"span_recall".into(), &200.into())
    );
    let sentence = verdict["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("Within 200 tokens, "), "{sentence}");
    // It comes first, on the terminal and in the files.
    let first = |text: &str| text.replace('\u{a0}', " ").lines().find(|line| line.len() > 40).unwrap().to_owned();
    let start: String = sentence.chars().take(40).collect();
    assert!(first(&stdout(&output)).starts_with(&start), "{}", stdout(&output));
    let markdown = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(first(&markdown).starts_with(&format!("**{start}")), "{markdown}");
    let comparison = &summary["comparisons"][0];
    for key in [
        "a",
        "b",
        "mode",
        "metric",
        "n",
        "difference",
        "low",
        "high",
        "p",
        "p_holm",
        "wins",
        "ties",
        "losses",
        "detectable",
    ] {
        assert!(!comparison[key].is_null(), "{key}: {comparison}");
    }
    let items = fs::read_to_string(folder.path().join("items.jsonl")).unwrap();
    assert_eq!(items.lines().count(), 12 * 24);
    let record = read(&folder.path().join("run.json"));
    assert_eq!(record["config"]["data"]["questions"], 24);
    let checksum = record["checksums"]["data"]["corpora/handbook-questions.json"].as_str().unwrap();
    assert_eq!(checksum.len(), 64);
    for page in ["summary.md", "index.html"] {
        assert!(fs::read_to_string(folder.path().join(page)).unwrap().contains("same-size"));
    }
}

/// Twelve sizes of chunks at eight depths: 528 comparisons by each metric, a correction over all of which could not let any
/// difference through, while one chunker finds half of what is asked for and another next to nothing.
#[test]
fn twelve_sizes_at_eight_depths_are_decided() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [200, 5, 10, 15, 20, 30, 40, 60, 80, 100, 120, 150];
    let chunkers: Vec<String> =
        sizes.iter().map(|size| format!("{{name=\"w{size}\",spec=\"fixed:words={size}\"}}")).collect();
    let chunkers = format!("chunker=[{}]", chunkers.join(","));
    let mut args = vec!["eval", "run", "eval/quickstart.toml", "--out", folder.path().to_str().unwrap()];
    for set in [
        "retrieval.embedder=none",
        "retrieval.modes=[\"bm25\"]",
        "retrieval.k=[1,2,3,4,5,6,8,10]",
        "retrieval.token_budgets=[]",
        "answer.generator=none",
        "judge.kind=none",
        &chunkers,
    ] {
        args.extend(["--set", set]);
    }
    let first = [&args[..], &["--set", "compare.primary={metric=\"span_recall\",k=3}"]].concat();
    let output = pericope(&root()).args(first).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = read(&folder.path().join("summary.json"));
    let comparisons = summary["comparisons"].as_array().unwrap();
    let of = |metric: &str| comparisons.iter().filter(|c| c["metric"] == metric).count();
    assert_eq!(of("span_recall"), 528);
    let primary: Vec<&Value> = comparisons.iter().filter(|c| c["family"] == "primary").collect();
    assert_eq!(primary.len(), 11);
    assert!(primary.iter().all(|c| c["b"] == "w200" && c["k"] == 3 && c["documents"] == 28));
    let small = primary.iter().find(|c| c["a"] == "w5").unwrap();
    assert_eq!(small["outcome"], "worse", "{small}");
    assert!(small["difference"].as_f64().unwrap() < -0.3 && small["p_holm"].as_f64().unwrap() < 0.01, "{small}");
    assert!(primary.iter().filter(|c| c["outcome"] == "worse").count() >= 8, "{primary:?}");
    let verdict = &summary["verdict"];
    let sentence = verdict["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("At k = 3, ") && !sentence.contains("no difference"), "{sentence}");
    let possible = verdict["possible"].as_array().unwrap();
    assert!(possible.len() < 6 && possible.contains(&verdict["recommended"]), "{verdict}");
    // A correction over all 528 comparisons could decide nothing: the smallest p-value is 1 in 10,001.
    // Another cell is named: the measurements stay, and it is decided anew.
    let mut again = [&args[..], &["--resume", "--set", "compare.baseline=w100"]].concat();
    let output = pericope(&root()).args(&again).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("12 chunkers are done already"), "{}", stderr(&output));
    let verdict = read(&folder.path().join("summary.json"))["verdict"]["primary"].clone();
    assert_eq!((&verdict["baseline"], &verdict["k"]), (&"w100".into(), &10.into()));
    again.extend(["--set", "compare.primary.k=7"]);
    let output = pericope(&root()).args(&again).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("compare.primary: k = 7 is not among retrieval.k"), "{}", stderr(&output));
}

/// Names and contents of the files of a folder.
fn contents(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut found: Vec<_> = (fs::read_dir(folder).unwrap())
        .map(|entry| (entry.as_ref().unwrap().file_name(), fs::read(entry.unwrap().path()).unwrap()))
        .collect();
    found.sort();
    found
}

/// A document with a known boundary.
const SEGMENTS: &str = "{\"id\":\"a\",\"sentences\":[\"x\",\"y\"],\"boundaries\":[1]}\n";

/// `s.toml`, an experiment on segmentation, and its data, `s.jsonl`.
fn write_segmentation(folder: &Path) {
    fs::write(folder.join("s.jsonl"), SEGMENTS).unwrap();
    let config = "kind = \"segmentation\"\nname = \"s\"\n[[set]]\nname = \"a\"\npath = \"s.jsonl\"\n\
        [[segmenter]]\nname = \"t\"\nspec = \"texttiling\"\n";
    fs::write(folder.join("s.toml"), config).unwrap();
}

#[test]
fn flags_that_mean_nothing_for_a_segmentation_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_segmentation(folder.path());
    for flags in [&["--limit", "3"][..], &["--trec", "t"], &["--resume"]] {
        let output =
            pericope(folder.path()).args(["eval", "run", "s.toml", "--out", "o"]).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("this is one on segmentation"), "{flags:?}: {}", stderr(&output));
        assert!(!folder.path().join("o").exists(), "{flags:?}");
    }
}

#[test]
fn a_folder_that_another_process_writes_into_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    assert_eq!(run(&out, &WORDS_ONLY).status.code(), Some(0));
    let before = contents(&out);
    let held = pericope_util::FolderLock::take(&out).unwrap();
    let before_lock = fs::read(out.join("lock")).unwrap();
    let to = out.to_str().unwrap();
    write_segmentation(folder.path());
    let in_folder = |args: &[&str]| pericope(folder.path()).args(args).output().unwrap();
    let refused = [
        run(&out, &WORDS_ONLY),
        run(&out, &[&WORDS_ONLY[..], &["--resume"]].concat()),
        run(&out, &[&WORDS_ONLY[..], &["--set", "sweep={\"data.seed\"=[1,2]}"]].concat()),
        in_folder(&["eval", "report", to]),
        in_folder(&["segment-eval", "s.toml", "--out", to]),
    ];
    for output in refused {
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let said = stderr(&output);
        let line = said.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{said}"));
        let by = format!("(process {}, since 2", std::process::id());
        assert!(line.contains("another process writes into") && line.contains(&by), "{said}");
        assert!(line.ends_with("wait for it, or name another folder with --out DIR"), "{said}");
    }
    let after = contents(&out);
    type File = (std::ffi::OsString, Vec<u8>);
    let same = |(a, b): (&File, &File)| a.0 == b.0 && (a.0 == "lock" || a.1 == b.1);
    assert!(before.len() == after.len() && before.iter().zip(&after).all(same), "a file was touched");
    assert_eq!(fs::read(out.join("lock")).unwrap(), before_lock);
    drop(held);
    assert_eq!(run(&out, &[&WORDS_ONLY[..], &["--resume"]].concat()).status.code(), Some(0));
    assert_eq!(in_folder(&["eval", "report", to]).status.code(), Some(0));
}

#[test]
fn a_run_whose_chunkers_or_retrievers_cannot_be_opened_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &WORDS_ONLY).status.code(), Some(0));
    let files = || contents(folder.path()).into_iter().filter(|(name, _)| name != "lock").collect::<Vec<_>>();
    let before = files();
    for spec in ["fixed:words=0", "same-size:reference=(fixed:words=0)"] {
        // The wrong one is the last: none before it has cut.
        let chunkers = format!("chunker=[{{name=\"a\",spec=\"paragraph\"}},{{name=\"b\",spec=\"{spec}\"}}]");
        let output = run(folder.path(), &[&WORDS_ONLY[..], &["--set", &chunkers]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("chunker 'b'"), "{}", stderr(&output));
        assert!(files() == before, "{spec}: a file of the run before is gone or changed");
    }
    // Nobody listens at port 1.
    let retriever = "retriever=[{name=\"r\",spec=\"qdrant://127.0.0.1:1/c?text=text\",timeout_seconds=2}]";
    let output = run(folder.path(), &[&WORDS_ONLY[..], &["--set", retriever]].concat());
    assert!(!output.status.success() && stderr(&output).contains("retriever 'r'"), "{}", stderr(&output));
    assert!(files() == before, "a retriever that cannot be opened cleared the run before");
}

#[test]
fn folders_of_other_kinds_and_files_are_told_apart_from_runs() {
    let folder = tempfile::tempdir().unwrap();
    write_segmentation(folder.path());
    let in_folder = |args: &[&str]| pericope(folder.path()).args(args).output().unwrap();
    let done = in_folder(&["segment-eval", "s.toml", "--out", "seg"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    fs::create_dir(folder.path().join("site")).unwrap();
    fs::write(folder.path().join("site/index.html"), "mine").unwrap();
    for (args, said) in [
        (vec!["eval", "report", "seg"], "seg is a run of segment-eval"),
        (vec!["segment-eval", "s.toml", "--out", "s.jsonl"], "s.jsonl: it is a file"),
        (vec!["segment-eval", "s.toml", "--out", "site"], "site: it holds a file index.html that this program has not"),
        // A report is written of an experiment file alone.
        (vec!["segment-eval", "--data", "s.jsonl", "-s", "texttiling", "--out", "new"], "cannot be used with"),
    ] {
        let output = in_folder(&args);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert_eq!(fs::read_to_string(folder.path().join("s.jsonl")).unwrap(), SEGMENTS);
    assert_eq!(fs::read_to_string(folder.path().join("site/index.html")).unwrap(), "mine");
    // What such a command wrote is written over.
    assert_eq!(in_folder(&["segment-eval", "s.toml", "--out", "seg"]).status.code(), Some(0));
    let refused = run(&folder.path().join("s.jsonl"), &WORDS_ONLY);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("it is a file"), "{}", stderr(&refused));
}

#[test]
fn what_is_damaged_of_a_run_is_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &WORDS_ONLY).status.code(), Some(0));
    let path = |name: &str| folder.path().join(name);
    let whole = fs::read_to_string(path("items.jsonl")).unwrap();
    let summary = rounded(timeless(read(&path("summary.json"))));
    let mut lines: Vec<&[u8]> = whole.lines().map(str::as_bytes).collect();
    // One chunker has a line with a bad byte, one an item twice in the place of another; the third is whole.
    let bad: Vec<u8> = lines[3].iter().map(|b| if *b == b'?' { 0xff } else { *b }).collect();
    let per_chunker = lines.len() / 3;
    lines[3] = &bad;
    lines[2 * per_chunker + 5] = lines[2 * per_chunker + 4];
    let mut damaged = lines.join(&b'\n');
    damaged.extend(b"\n{\"question_id\":\"q\",\"chunker\":\"fi");
    fs::write(path("items.jsonl"), damaged).unwrap();
    let output = run(folder.path(), &[&WORDS_ONLY[..], &["--resume"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("2 damaged lines in") && stderr(&output).contains("1 chunker is done already"),
        "{}",
        stderr(&output)
    );
    let again = fs::read_to_string(path("items.jsonl")).unwrap();
    let sorted = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(sorted(&again) == sorted(&whole), "every item is there once");
    assert_eq!(rounded(timeless(read(&path("summary.json")))), summary);
    // A folder that is no run, or a damaged one, is one clear line.
    for (name, text, status) in [
        ("items.jsonl", "{\"a\":1}\n", 3),
        ("summary.json", "[]", 3),
        ("run.json", "{", 3),
        ("summary.json", "\u{0}", 3),
    ] {
        let before = fs::read(path(name)).unwrap();
        fs::write(path(name), text).unwrap();
        let output = pericope(&root()).args(["eval", "report"]).arg(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{name}: {}", stderr(&output));
        assert!(stderr(&output).lines().count() == 1 && stderr(&output).contains(name), "{}", stderr(&output));
        fs::write(path(name), before).unwrap();
    }
}

#[test]
fn two_runs_agree_whatever_the_number_of_threads() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(run(a.path(), &WORDS_ONLY).status.code(), Some(0));
    let mut args =
        vec!["eval", "run", "eval/quickstart.toml", "--set", "data.questions=24", "--set", "data.documents=9", "--out"];
    args.push(b.path().to_str().unwrap());
    args.extend(WORDS_ONLY);
    let output = pericope(&root()).env("RAYON_NUM_THREADS", "1").args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let items = |folder: &Path| fs::read_to_string(folder.join("items.jsonl")).unwrap();
    assert!(items(a.path()) == items(b.path()));
    assert_eq!(timeless(read(&a.path().join("summary.json"))), timeless(read(&b.path().join("summary.json"))));
}

#[test]
fn an_interrupted_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &WORDS_ONLY).status.code(), Some(0));
    let whole = rounded(timeless(read(&folder.path().join("summary.json"))));
    let first = read(&folder.path().join("run.json"));
    // As after a crash in the middle of the last chunker: its row is missing, a line is cut short.
    let items = fs::read_to_string(folder.path().join("items.jsonl")).unwrap();
    fs::write(folder.path().join("items.jsonl"), &items[..items.len() * 5 / 6]).unwrap();
    let rows = fs::read_to_string(folder.path().join("chunkers.jsonl")).unwrap();
    let kept: Vec<&str> = rows.lines().take(2).collect();
    fs::write(folder.path().join("chunkers.jsonl"), kept.join("\n") + "\n").unwrap();
    fs::remove_file(folder.path().join("summary.json")).unwrap();

    let mut args = WORDS_ONLY.to_vec();
    args.push("--resume");
    let output = run(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 chunkers are done"), "{}", stderr(&output));
    assert_eq!(rounded(timeless(read(&folder.path().join("summary.json")))), whole);
    // Begun when it was begun, and all sessions counted.
    let record = read(&folder.path().join("run.json"));
    assert_eq!(record["started"], first["started"]);
    assert!(record["seconds"].as_f64() > first["seconds"].as_f64(), "{record}");
    assert_eq!(fs::read_to_string(folder.path().join("items.jsonl")).unwrap().lines().count(), 12 * 24);

    // Another configuration is no continuation.
    args.extend(["--set", "retrieval.k=[2]"]);
    let other = run(folder.path(), &args);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("configuration"), "{}", stderr(&other));
}

/// The spec is the same and the weights are not: the first half of the run would not fit the second.
#[test]
fn a_run_is_not_gone_on_with_on_other_weights() {
    let folder = tempfile::tempdir().unwrap();
    let golden = root().join("crates/learn/tests/golden/training");
    let train = |seed: &str, out: &str| {
        let mut command = pericope(folder.path());
        command.args(["train", "weswin", "--tokens", "48", "--frozen", "1", "--max-steps", "2", "--seed", seed]);
        command.arg("--data").arg(golden.join("documents.jsonl")).arg("--base").arg(&golden);
        let output = command.args(["--out", out]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    train("7", "model");
    train("8", "other");
    let model = folder.path().join("model");
    let out = folder.path().join("run");
    let spec = format!("chunker=[{{name=\"weswin\",spec=\"weswin:model={}\"}}]", model.display());
    let mut args = WORDS_ONLY.to_vec();
    args.extend(["--set", &spec]);
    let first = run(&out, &args);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let told = read(&out.join("run.json"))["checksums"]["chunkers"]["weswin"].as_str().unwrap().to_owned();
    assert!(told.starts_with("weswin:"), "{told}");
    args.push("--resume");
    let again = run(&out, &args);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert_eq!(read(&out.join("run.json"))["checksums"]["chunkers"]["weswin"], told.as_str());
    fs::copy(folder.path().join("other/weswin.safetensors"), model.join("weswin.safetensors")).unwrap();
    let other = run(&out, &args);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("'weswin' was run with another model"), "{}", stderr(&other));
}

#[test]
fn the_quickstart_runs_with_vectors() {
    if !model_or_skip("the_quickstart_runs_with_vectors") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = pericope(&root());
    command.args(["eval", "run", "eval/quickstart.toml", "--out"]).arg(folder.path());
    // Of each page that a question is about, every sentence is embedded, for each of four chunkers.
    for set in [
        "data.questions=6",
        "data.documents=6",
        "retrieval.k=[3]",
        "retrieval.token_budgets=[]",
        "retrieval.modes=[\"dense\"]",
    ] {
        command.args(["--set", set]);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = read(&folder.path().join("summary.json"));
    assert_eq!((&summary["questions"], &summary["documents"]), (&6.into(), &6.into()));
    for cell in summary["cells"].as_array().unwrap() {
        assert!(cell["metrics"]["cosine"].as_f64().unwrap() > 0.3, "{cell}");
        assert!(cell["metrics"]["hit"].as_f64().unwrap() > 0.6, "{cell}");
    }
}

#[test]
fn data_that_are_not_there_are_named_with_their_variable() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &str| {
        let data = format!("path = \"{path}\"\nsplit = \"test\"");
        let text = SMALL_EXPERIMENT.replace("path = \"questions.json\"", &data);
        fs::write(folder.path().join("small.toml"), text).unwrap();
        let output = pericope(folder.path()).args(["eval", "run", "small.toml", "--dry-run"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let said = refused("nowhere/data");
    assert!(said.contains("nowhere/data: there is no such file or folder"), "{said}");
    let said = refused("${PERICOPE_NO_SUCH_DATA:-nowhere/data}");
    assert!(said.contains("nowhere/data: there is no such file or folder"), "{said}");
    assert!(said.contains("${PERICOPE_NO_SUCH_DATA:-nowhere/data}"), "{said}");
}
