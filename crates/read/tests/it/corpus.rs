//! Real documentation, where the environment says where it is, and a long line.
#![allow(clippy::unwrap_used)]

use pericope_api::Kind;
use pericope_read::{ReadOptions, read_each, read_text};

use crate::skip;

#[test]
fn all_documentation_keeps_the_invariants() {
    let Some(data) = skip::data("all_documentation_keeps_the_invariants") else { return };
    let mut documents = 0;
    for entry in std::fs::read_dir(data.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".raw.jsonl") {
            continue;
        }
        read_each(&path, &ReadOptions::default(), &mut |document| {
            let document = document.unwrap();
            assert_eq!(document.check(), Ok(()), "{}", document.id);
            documents += 1;
        });
    }
    assert!(documents > 1_000, "{documents}");
}

/// A file, a document in it, and the titles and anchors of its sections, in order.
type Titles = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Titles of a few pages, looked up by hand.
#[test]
fn headings_of_real_pages_are_found() {
    let Some(data) = skip::data("headings_of_real_pages_are_found") else { return };
    let expected: &[Titles] = &[
        (
            "ansible.raw.jsonl",
            "ansible/community/steering/steering_index.rst",
            &[("Ansible Community Steering Committee", "community-steering-committee")],
        ),
        (
            "ansible.raw.jsonl",
            "ansible/porting_guides/porting_guide_2.5.rst",
            &[
                ("Ansible 2.5 Porting Guide", "porting-2-5-guide"),
                ("Playbook", "playbook"),
                ("Dynamic includes and attribute inheritance", "dynamic-includes-and-attribute-inheritance"),
                ("Fixed handling of keywords and inline variables", "fixed-handling-of-keywords-and-inline-variables"),
                ("Migrating from with_X to loop", "migrating-from-with-x-to-loop"),
                ("Deprecated", "deprecated"),
                ("Jinja tests used as filters", "jinja-tests-used-as-filters"),
                ("Ansible fact namespacing", "ansible-fact-namespacing"),
                ("Modules", "modules"),
                ("github_release", "github-release"),
                ("Modules removed", "modules-removed"),
                ("Deprecation notices", "deprecation-notices"),
                ("Noteworthy module changes", "noteworthy-module-changes"),
                ("Plugins", "plugins"),
            ],
        ),
        (
            "helm.raw.jsonl",
            "helm/chart_best_practices/templates.md",
            &[
                ("Structure of templates/", "structure-of-templates"),
                ("Names of Defined Templates", "names-of-defined-templates"),
                ("Formatting Templates", "formatting-templates"),
                ("Whitespace in Generated Templates", "whitespace-in-generated-templates"),
                ("Comments (YAML Comments vs. Template Comments)", "comments-yaml-comments-vs-template-comments"),
                ("Use of JSON in Templates and Template Output", "use-of-json-in-templates-and-template-output"),
            ],
        ),
        (
            "rust_book.raw.jsonl",
            "rust_book/ch01-01-installation.md",
            &[
                ("Installation", "installation"),
                ("Installing rustup on Linux or macOS", "installing-rustup-on-linux-or-macos"),
                ("Installing rustup on Windows", "installing-rustup-on-windows"),
                ("Troubleshooting", "troubleshooting"),
                ("Updating and Uninstalling", "updating-and-uninstalling"),
                ("Reading the Local Documentation", "local-documentation"),
                ("Using Text Editors and IDEs", "text-editors-and-integrated-development-environments"),
                ("Working Offline with This Book", "working-offline-with-this-book"),
            ],
        ),
    ];
    for (file, id, titles) in expected {
        let mut found = Vec::new();
        read_each(data.join("docs").join(file), &ReadOptions::default(), &mut |document| {
            let document = document.unwrap();
            if document.id == *id {
                let titles = document.sections.iter().map(|path| path.last().cloned().unwrap_or_default());
                let anchors = document.anchors.iter().map(|anchor| anchor.as_deref().unwrap_or_default().to_owned());
                found = titles.zip(anchors).collect();
            }
        });
        let found: Vec<_> = found.iter().map(|(title, anchor)| (title.as_str(), anchor.as_str())).skip(1).collect();
        assert_eq!(found.get(..titles.len()), Some(*titles), "{id}: {found:?}");
    }
}

#[test]
fn a_line_without_punctuation_is_one_sentence() {
    let line = "word ".repeat(2_000_000);
    let document = read_text("d", "plain", line, &ReadOptions::default()).unwrap();
    assert_eq!((document.len(), document.sentences[0].kind), (1, Kind::Prose));
}
