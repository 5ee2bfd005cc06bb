//! `docs/cli.md` and `docs/config.md` are made from the program: from clap's commands, and from the types of the
//! configuration. `UPDATE_DOCS=1 cargo test -p pericope-cli --test it documents` writes them anew.

use std::fmt::Write;
use std::path::Path;

use pericope_eval::classification::ClassificationExperiment;
use pericope_eval::config::{Configuration, Experiment, ExperimentFile};
use serde_json::Value;
use syn::{Attribute, Expr, Fields, Item, Lit, Meta};

use crate::common::root;

fn check(name: &str, text: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == text,
        "docs/{name} is not what the program says: UPDATE_DOCS=1 cargo test -p pericope-cli --test it documents"
    );
}

#[test]
fn the_command_line_is_documented_as_it_is() {
    let mut text = String::from(
        "# The command line\n\nMade from the program; `pericope COMMAND --help` shows the same on a terminal.\n\n\
         Exit status: 0 done, 1 a check did not hold or input was left out, 2 wrong usage or configuration, \
         3 failed while running, 130 interrupted.\n",
    );
    let mut command = pericope_cli::command().term_width(0);
    command.build();
    describe(&mut text, &mut command, "pericope");
    check("cli.md", &text);
}

fn describe(text: &mut String, command: &mut clap::Command, name: &str) {
    let children: Vec<String> = command.get_subcommands().map(|child| child.get_name().to_owned()).collect();
    if children.is_empty() {
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim());
    }
    for child in children.iter().filter(|child| *child != "help") {
        if let Some(command) = command.find_subcommand_mut(child) {
            describe(text, command, &format!("{name} {child}"));
        }
    }
}

/// A table of the configuration: how it is written, the file and the type that hold its keys, and where its defaults lie
/// in the smallest experiment there is.
const TABLES: &[(&str, &str, &str, Option<&str>)] = &[
    ("An experiment on retrieval (`kind = \"retrieval\"`)", "eval/src/config/mod.rs", "Experiment", Some("")),
    ("`[data]`", "eval/src/config/data.rs", "Data", Some("/data")),
    ("`[retrieval]`", "eval/src/config/retrieval.rs", "Retrieval", Some("/retrieval")),
    ("`[[chunker]]`", "eval/src/config/mod.rs", "ChunkerConfig", Some("/chunker/0")),
    ("`[[retriever]]`", "eval/src/config/retriever.rs", "RetrieverConfig", Some("/retriever/0")),
    ("`[answer]`", "eval/src/config/answer.rs", "AnswerConfig", Some("/answer")),
    ("`[judge]`", "eval/src/config/answer.rs", "JudgeConfig", Some("/judge")),
    ("`[llm]`", "eval/src/config/answer.rs", "LlmTables", Some("/llm")),
    (
        "`[llm.generator]`, `[llm.judge]`, `[llm.segmenter]`, `[llm.context]`",
        "llm/src/config.rs",
        "LlmConfig",
        Some("/llm/judge"),
    ),
    ("`[llm.*.price]`", "llm/src/config.rs", "Price", None),
    ("`[compare]`", "eval/src/config/compare.rs", "Compare", None),
    ("`compare.primary`", "eval/src/config/compare.rs", "Primary", None),
    ("`[limits]`", "eval/src/config/mod.rs", "Limits", Some("/limits")),
    ("`[tune]`", "eval/src/config/tune.rs", "TuneConfig", Some("/tune")),
    ("`[[gate]]`", "eval/src/config/gates.rs", "Gate", None),
    ("`[nightly]`", "eval/src/config/nightly.rs", "Settings", Some("/nightly")),
    (
        "An experiment on segmentation (`kind = \"segmentation\"`)",
        "segeval/src/config.rs",
        "SegmentationExperiment",
        None,
    ),
    ("`[[set]]`", "segeval/src/config.rs", "SetConfig", None),
    ("`[[segmenter]]`", "segeval/src/config.rs", "SegmenterConfig", None),
    ("`[[published]]`", "segeval/src/config.rs", "Published", None),
    (
        "An experiment on classification (`kind = \"classification\"`)",
        "eval/src/classification/config.rs",
        "ClassificationExperiment",
        Some("/classification"),
    ),
    ("`[data]` of classification", "eval/src/classification/config.rs", "ClassData", Some("/classification/data")),
    ("`[[chunker]]` of classification", "eval/src/classification/config.rs", "SchemeConfig", None),
    ("`[classifier]`", "eval/src/classification/config.rs", "ClassifierConfig", Some("/classification/classifier")),
    ("`[compare]` of classification", "eval/src/classification/config.rs", "ClassCompare", None),
    ("`[[published]]` of classification", "eval/src/classification/config.rs", "PublishedAccuracy", None),
    ("Tuning a trained segmenter (`kind = \"tune\"`)", "cli/src/commands/tune/mod.rs", "Config", None),
];

/// The smallest experiment that has every table of which the defaults are shown.
const SMALLEST: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n[[chunker]]\nname = \"c\"\nspec = \"paragraph\"\n\
    [[retriever]]\nname = \"r\"\nspec = \"http://h\"\n\
    [judge]\nkind = \"llm\"\n[llm.judge]\nprovider = \"openai\"\nmodel = \"m\"\n[tune]\nchunker = \"c\"\n[nightly]\nkeep = 31\n";

/// The same on classification.
const SMALLEST_OF_CLASSES: &str = "kind = \"classification\"\nname = \"n\"\n[data]\nkind = \"classes\"\npath = \"p\"\n\
    [[chunker]]\nname = \"c\"\nspec = \"paragraph\"\n";

#[test]
fn every_key_of_the_configuration_is_documented() {
    let list = pericope_segment::registry::list();
    let experiment = Experiment::parse(SMALLEST, Path::new("x.toml"), &[], list).unwrap();
    let mut defaults = serde_json::to_value(&experiment).unwrap();
    // What the smallest experiment had to say is no default.
    for (table, key) in [("judge", "kind"), ("nightly", "keep")] {
        let of = match table {
            "judge" => serde_json::to_value(pericope_eval::config::JudgeConfig::default()),
            _ => serde_json::to_value(pericope_eval::config::Settings::default()),
        };
        defaults[table][key] = of.unwrap()[key].clone();
    }
    let file = ExperimentFile::parse(SMALLEST_OF_CLASSES.to_owned(), Path::new("x.toml")).unwrap();
    let classes = ClassificationExperiment::of_file(&file, &[], list).unwrap();
    defaults["classification"] = serde_json::to_value(&classes).unwrap();
    let mut text = String::from(
        "# The configuration\n\nMade from the types that read it. Experiments are TOML files; `--set table.key=value` \
         overrides any key, and an unknown key is an error.\n\n\
         A default of \"–\" means that nothing is set. \"required\" means that the key must be there.\n",
    );
    for (title, file, name, place) in TABLES {
        let defaults = place.and_then(|place| defaults.pointer(place));
        table(&mut text, title, &root().join("crates").join(file), name, defaults);
    }
    check("config.md", &text);
}

fn table(text: &mut String, title: &str, file: &Path, name: &str, defaults: Option<&Value>) {
    let source = syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap();
    let is_ours = |item: &Item| matches!(item, Item::Struct(found) if found.ident == name);
    let Some(Item::Struct(found)) = source.items.into_iter().find(is_ours) else { panic!("{name} is not in {file:?}") };
    let (has_default, about) = (serde(&found.attrs).contains("default"), doc(&found.attrs));
    let _ = write!(text, "\n## {title}\n\n{about}\n\n| key | type | default | |\n| --- | --- | --- | --- |\n");
    let Fields::Named(fields) = found.fields else { panic!("{name} has no named fields") };
    for field in fields.named {
        let options = serde(&field.attrs);
        let renamed = options.split("rename = \"").nth(1).and_then(|rest| rest.split('"').next());
        let key = renamed.map_or_else(|| field.ident.as_ref().unwrap().to_string(), str::to_owned);
        let kind = kind(&field.ty);
        let given = has_default || options.contains("default") || kind.1;
        let known = defaults.and_then(|defaults| defaults.get(&key)).filter(|_| given);
        let default = match known {
            Some(value) if !value.is_null() && !is_table(value) => format!("`{value}`"),
            _ if given => "–".to_owned(),
            _ => "required".to_owned(),
        };
        let about = doc(&field.attrs).replace('|', "\\|");
        let _ = writeln!(text, "| `{key}` | {} | {default} | {about} |", kind.0);
    }
}

fn is_table(value: &Value) -> bool {
    value.is_object() || value.as_array().is_some_and(|list| list.iter().any(Value::is_object))
}

/// All that serde is told about an item.
fn serde(attributes: &[Attribute]) -> String {
    let ours = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    ours.filter_map(|attribute| match &attribute.meta {
        Meta::List(list) => Some(list.tokens.to_string()),
        _ => None,
    })
    .collect::<Vec<_>>()
    .join(", ")
}

/// The documentation of an item in one line, without links into the code.
fn doc(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let Expr::Lit(literal) = &pair.value
            && let Lit::Str(line) = &literal.lit
        {
            lines.push(line.value().trim().to_owned());
        }
    }
    lines.join(" ").replace(" ([`crate::sweep`])", "").replace("[`", "`").replace("`]", "`").trim().to_owned()
}

/// A type as TOML has it, and whether it may be left out.
fn kind(ty: &syn::Type) -> (String, bool) {
    if let syn::Type::Array(list) = ty {
        return (format!("list of {}", kind(&list.elem).0), false);
    }
    let syn::Type::Path(path) = ty else { return ("value".to_owned(), false) };
    let Some(last) = path.path.segments.last() else { return ("value".to_owned(), false) };
    let inner = || match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => list.args.iter().rev().find_map(|argument| match argument {
            syn::GenericArgument::Type(ty) => Some(kind(ty).0),
            _ => None,
        }),
        _ => None,
    };
    let name = last.ident.to_string();
    let word = match name.as_str() {
        "Option" => return (inner().unwrap_or_default(), true),
        "Vec" => format!("list of {}", inner().unwrap_or_default()),
        "BTreeMap" => format!("table of {}", inner().unwrap_or_default()),
        "String" | "PathBuf" | "Spec" | "Metric" | "Measure" | "LanguageChoice" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "usize" | "u64" | "u32" => "whole number".to_owned(),
        "f64" => "number".to_owned(),
        "Mode" => "`dense`, `bm25`, `hybrid`".to_owned(),
        "BudgetRule" => "`fill`, `whole`".to_owned(),
        "ContextKind" => "`none`, `llm`".to_owned(),
        "Offsets" => "`bytes`, `chars`".to_owned(),
        "DataKind" => "`squad`, `chroma`, `beir`".to_owned(),
        "GeneratorKind" => "`none`, `best`, `extractive`, `cogltx`, `llm`".to_owned(),
        "JudgeKind" => "`none`, `lexical`, `llm`, `both`, `custom`".to_owned(),
        "ProviderKind" => "`openai`, `anthropic`, `candle`".to_owned(),
        "ExperimentKind" => "`retrieval`, `segmentation`, `classification`, `tune`".to_owned(),
        "ClassDataKind" => "`classes`, `projects`, `newsgroups`".to_owned(),
        "Part" => "`headers`, `quotes`, `footers`".to_owned(),
        "Split" => "`train`, `validation`, `test`".to_owned(),
        "Rerank" => "`none`".to_owned(),
        "Expand" => "`none`, `parent`, `merge`, `neighbours:N`, `segment`".to_owned(),
        "Notify" => "`always`, `failure`, `change`".to_owned(),
        "WebhookBody" => "`full`, `text`".to_owned(),
        "Baseline" => "whole number or `first`".to_owned(),
        "Value" => "value".to_owned(),
        _ => "table".to_owned(),
    };
    (word, false)
}
