//! Kept reports against what their configurations mean today, and `--settings`, which says it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pericope_eval::resolved::Resolved;
use serde_json::{Value, json};

use crate::common::{SMALL_EXPERIMENT, root, stderr, stdout, three_questions, without_models};

/// Runs the command in a checkout, without model, data and home.
fn said(checkout: &Path, args: &[String]) -> Result<String, String> {
    let nothing = tempfile::tempdir().unwrap();
    let mut command = without_models(nothing.path());
    command.current_dir(checkout).env_remove("PERICOPE_DATA").env("HOME", nothing.path()).args(args);
    let output = command.output().unwrap();
    if output.status.success() { Ok(stdout(&output)) } else { Err(stderr(&output)) }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Sentences on the kept reports of a checkout whose settings are not those of today; none where all is well. Reports of experiments
/// are those whose configuration lies in eval/. One that says that it is stale is passed over.
fn outdated(checkout: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<_> =
        fs::read_dir(checkout.join("reports")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders.into_iter().filter(|folder| folder.join("report.toml").is_file()) {
        let report: toml::Table = fs::read_to_string(folder.join("report.toml")).unwrap().parse().unwrap();
        let text = |key: &str| report.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        if text("config").starts_with("eval/") && text("stale").is_empty() {
            found.extend(differs(checkout, &folder, &text).err());
        }
    }
    found
}

fn differs<'a>(checkout: &Path, folder: &Path, text: &dyn Fn(&str) -> &'a str) -> Result<(), String> {
    let name = folder.file_name().unwrap().display().to_string();
    let again = format!(
        "Make it again: scripts/reports --only {name} (`{}`); or say in `stale` of its report.toml what has changed.",
        text("command")
    );
    let wrong = |problem: &dyn std::fmt::Display| format!("reports/{name}: {problem}\n{again}");
    // `scripts/quickstart` stands for the run of its configuration.
    let command = match text("command").strip_prefix("pericope ") {
        Some(arguments) => words(arguments),
        None => words(&format!("eval run {}", text("config"))),
    };
    let today = said(checkout, &[command, words("--settings")].concat()).map_err(|problem| wrong(&problem))?;
    let today: Resolved = serde_json::from_str(&today).map_err(|problem| wrong(&problem))?;
    let kept = fs::read_to_string(folder.join("settings.json"));
    let kept = kept.map_err(|problem| {
        wrong(&format_args!("settings.json, what its configuration meant, cannot be read: {problem}"))
    })?;
    let kept: Resolved =
        serde_json::from_str(&kept).map_err(|problem| wrong(&format_args!("settings.json: {problem}")))?;
    if kept.sha256() != text("settings_sha256") {
        return Err(wrong(&"settings_sha256 of report.toml is not that of settings.json"));
    }
    let differences = kept.differences(&today);
    if differences.is_empty() {
        return Ok(());
    }
    let means = format!(
        "{} means something else than when the report was made:\n  {}",
        text("config"),
        differences.join("\n  ")
    );
    Err(wrong(&means))
}

#[test]
fn kept_reports_were_made_with_the_settings_of_today() {
    let found = outdated(&root());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Settings as an older program would have written them, with these values in place of today's.
fn older(today: &str, changes: &[(&str, Value)]) -> (String, String) {
    let today: Value = serde_json::from_str(today).unwrap();
    let mut settings: BTreeMap<String, Value> = serde_json::from_value(today["settings"].clone()).unwrap();
    for (key, value) in changes {
        assert!(settings.insert((*key).to_owned(), value.clone()).is_some(), "{key} is a setting");
    }
    let sha256 = pericope_util::sha256_hex(serde_json::to_string(&settings).unwrap().as_bytes());
    (json!({"settings_sha256": sha256, "settings": settings}).to_string(), sha256)
}

#[test]
fn a_report_that_another_default_made_is_named_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir_all(at.join("eval")).unwrap();
    fs::create_dir_all(at.join("reports/q")).unwrap();
    fs::copy(root().join("eval/quickstart.toml"), at.join("eval/quickstart.toml")).unwrap();
    let today = said(at, &words("eval run eval/quickstart.toml --settings")).unwrap();
    let report = |more: &str| {
        let text = format!("command = \"scripts/quickstart\"\nconfig = \"eval/quickstart.toml\"\n{more}\n");
        fs::write(at.join("reports/q/report.toml"), text).unwrap();
        outdated(at).join("\n")
    };
    let keep = |settings: &str| fs::write(at.join("reports/q/settings.json"), settings).unwrap();
    assert!(report("").contains("settings.json, what its configuration meant"), "{}", report(""));
    let (same, sha256) = older(&today, &[]);
    keep(&same);
    assert_eq!(report(&format!("settings_sha256 = \"{sha256}\"")), "");
    assert!(report("settings_sha256 = \"1234\"").contains("not that of settings.json"));
    assert!(report("").contains("not that of settings.json"), "it is required");
    keep(&same.replace("\"fill\"", "\"whole\""));
    assert!(report(&format!("settings_sha256 = \"{sha256}\"")).contains("changed by hand"));
    // Defaults that the file does not name: a budget's end, a segmenter's, a model's weights.
    let changes = [
        ("retrieval.budget_rule", json!("whole")),
        ("chunker.fixed.overlap", json!("1")),
        ("model.minilm.model.safetensors.sha256", json!("12")),
    ];
    let (before, sha256) = older(&today, &changes);
    keep(&before);
    let recorded = format!("settings_sha256 = \"{sha256}\"");
    let found = report(&recorded);
    for part in [
        "reports/q: eval/quickstart.toml means something else",
        "\n  retrieval.budget_rule: \"whole\", now \"fill\"\n",
        "\n  chunker.fixed.overlap: \"1\", now \"0\"\n",
        "\n  model.minilm.model.safetensors.sha256: \"12\", now \"53aa51172d",
        "scripts/reports --only q (`scripts/quickstart`)",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert_eq!(found.lines().count(), 5, "{found}");
    assert_eq!(report(&format!("{recorded}\nstale = \"made by old rules\"")), "");
    // Overrides of its command are part of what it was made with.
    let text = format!(
        "command = \"pericope eval run eval/quickstart.toml --set retrieval.budget_rule=whole\"\nconfig = \"eval/quickstart.toml\"\n{recorded}\n"
    );
    fs::write(at.join("reports/q/report.toml"), text).unwrap();
    let found = outdated(at).join("\n");
    assert!(!found.contains("budget_rule:") && found.contains("chunker.fixed.overlap"), "{found}");
}

#[test]
fn every_experiment_that_ships_has_settings() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("eval")).unwrap() {
        let path = entry.unwrap().path();
        let config = format!("eval/{}", path.file_name().unwrap().display());
        let kind = fs::read_to_string(&path).unwrap();
        let (command, list) = match () {
            () if kind.contains("kind = \"segmentation\"") => ("segment-eval", "segmenter"),
            () if kind.contains("kind = \"tune\"") => continue,
            () => ("eval run", "chunker"),
        };
        let found = said(&root(), &words(&format!("{command} {config} --settings"))).unwrap();
        let found: Resolved = serde_json::from_str(&found).unwrap();
        seen += 1;
        for name in found.settings()["order"].as_array().unwrap() {
            let of = |key: &str| found.settings().get(&format!("{list}.{}.{key}", name.as_str().unwrap()));
            assert!(of("segmenter").is_some(), "{config}: {name}");
            // Weights that ship belong to what is meant.
            let shipped = of("model").and_then(Value::as_str) == Some("shipped");
            assert_eq!(of("model_sha256").is_some(), shipped, "{config}: {name}");
        }
        // Neither this machine nor its environment.
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains(root().to_str().unwrap()), "{config}: {text}");
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn settings_are_those_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    three_questions(at);
    fs::write(at.join("x.toml"), SMALL_EXPERIMENT).unwrap();
    let found: Resolved = serde_json::from_str(&said(at, &words("eval run x.toml --settings")).unwrap()).unwrap();
    assert_eq!(fs::read_dir(at).unwrap().count(), 2, "nothing was run");
    said(at, &words("eval run x.toml --out out")).unwrap();
    let read = |name: &str| -> Value { serde_json::from_str(&fs::read_to_string(at.join(name)).unwrap()).unwrap() };
    let (record, summary) = (read("out/run.json"), read("out/summary.json"));
    for (table, values) in
        ["data", "retrieval", "answer", "judge"].map(|table| (table, record["config"][table].clone()))
    {
        for (key, value) in values.as_object().unwrap() {
            assert_eq!(found.settings().get(&format!("{table}.{key}")), Some(value), "{table}.{key}");
        }
    }
    let primary = &summary["verdict"]["primary"];
    let limit = &found.settings()["chunker.fixed.max_tokens"];
    assert_eq!(
        limit.as_str().map(str::to_owned),
        summary["chunkers"][0]["limit"].as_u64().map(|limit| limit.to_string())
    );
    if primary.is_object() {
        assert_eq!(found.settings()["compare.baseline"], primary["baseline"]);
    }
    for (args, says) in [
        ("eval run x.toml --settings --dry-run", "--dry-run"),
        ("segment-eval --settings --data a --segmenter fixed", "--settings"),
        ("eval run x.toml --settings --set retrieval.k=none", "retrieval.k"),
        ("eval run x.toml --settings --set chunker.fixed.spec=fixed:words=0", "at least 1"),
    ] {
        let wrong = said(at, &words(args)).unwrap_err();
        assert!(wrong.contains(says), "{args}: {wrong}");
    }
}
