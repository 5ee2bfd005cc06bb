//! `pericope segment --format tree`.

use std::fs;

use crate::common::{model_or_skip, pericope, stderr, stdout, without_models};

#[test]
fn a_tree_is_a_line_of_json_a_document() {
    if !model_or_skip("a_tree_is_a_line_of_json_a_document") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let topics = [
        "The kettle boils water for the tea. Tea leaves are steeped for three minutes. Milk goes in last. ",
        "The bridge carries trains over the river. Its piers stand on rock. Engineers inspect its cables yearly. ",
    ];
    let source = topics.map(|topic| topic.repeat(3)).join("\n\n");
    fs::write(folder.path().join("a.md"), &source).unwrap();
    fs::write(folder.path().join("empty.md"), "").unwrap();
    let args = ["segment", "a.md", "empty.md", "--segmenter", "hiercrf", "--format", "tree", "--max-tokens", "20"];
    let output = pericope(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = stdout(&output);
    let line: serde_json::Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!((line["document"].as_str(), line["tree"]["start"].as_u64()), (Some("a.md"), Some(0)));
    assert_eq!(line["tree"]["end"], source.trim_end().len());
    let children = line["tree"]["children"].as_array().unwrap();
    let bridge = children.iter().find(|child| child["start"] == source.find("The bridge").unwrap()).unwrap();
    assert!(bridge["score"].as_f64().is_some_and(|score| score > 0.5 && score <= 1.0), "{bridge}");
}

#[test]
fn segmenters_without_a_tree_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "One. Two.").unwrap();
    let args = ["segment", "a.md", "--segmenter", "fixed:words=1", "--format", "tree"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(stderr(&output).contains("`fixed` finds no segments within segments; hiercrf does"), "{}", stderr(&output));
}
