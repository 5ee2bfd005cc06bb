#![allow(clippy::unwrap_used)]
use std::fs;
use std::sync::Arc;

use pericope_api::Document;

use crate::foreign::{Original, Originals};
use crate::registry::{build_from, outside};
use crate::resources::{Limits, Resources, Standalone};
use crate::spec::Spec;
use crate::{Chunker, policy::SizePolicy};

fn document(id: &str, source: &str) -> Document {
    Document { id: id.into(), source: source.into(), ..Document::from_sentences(id, &[source]) }
}

fn chunker(lines: &str, settings: &str, resources: &dyn Resources) -> Result<Chunker, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my, chunks.jsonl");
    fs::write(&path, lines).unwrap();
    let spec = Spec::parse(&format!("chunks:{}{settings}", path.display())).unwrap();
    build_from(outside(), &spec, resources).map_err(|error| error.to_string())
}

fn texts(chunker: &Chunker, document: &Document) -> Result<Vec<String>, String> {
    let chunks = chunker.chunks(document).map_err(|error| error.to_string())?;
    Ok(chunks.iter().map(|chunk| document.text(chunk.span).to_owned()).collect())
}

/// The window of the default embedder.
const INDEX: Standalone = Standalone { defaults: Limits::INDEX };

#[test]
fn chunks_are_those_of_the_file() {
    let lines = "\u{feff}{\"document\":\"a\",\"start\":4,\"end\":8}\n\n\
        {\"document\":\"b\",\"text\":\"due tre\"}\r\n\
        {\"document\":\"a\",\"start\":0,\"end\":7,\"tokens\":3,\"text\":\"uno d\\u00f9\"}\n\
        {\"document\":\"a\",\"start\":4,\"end\":8,\"offsets\":\"chars\"}";
    let chunker = chunker(lines, "", &INDEX).unwrap();
    // They overlap, leave text out, and end in white space: they stay as they are, in the order of the document.
    let a = document("a", "uno d\u{f9}  e poi");
    assert_eq!(texts(&chunker, &a).unwrap(), ["uno d\u{f9}", "d\u{f9} ", "d\u{f9}  "][..].to_vec());
    assert_eq!(texts(&chunker, &document("b", "uno  due tre")).unwrap(), ["due tre"]);
    assert_eq!(chunker.policy(), &SizePolicy::default());
    assert!(chunker.spec().to_string().ends_with("my, chunks.jsonl),max_tokens=0"), "{}", chunker.spec());
    assert_eq!(chunker.fingerprint(), format!("sha256={}", pericope_util::sha256_hex(lines.as_bytes())));
    assert_eq!(chunker.chunks(&a).unwrap()[1].ordinal, 1);
}

#[test]
fn long_chunks_are_cut_further_where_somebody_asks() {
    let source = "One two three.\nFour five six.\nSeven eight.";
    let lines = format!(
        "{{\"document\":\"a\",\"start\":0,\"end\":{}}}\n{{\"document\":\"a\",\"start\":15,\"end\":29}}",
        source.len()
    );
    let a = Document::from_sentences("a", &["One two three.", "Four five six.", "Seven eight."]);
    let whole = chunker(&lines, "", &INDEX).unwrap();
    assert_eq!(texts(&whole, &a).unwrap(), [source, "Four five six."]);
    let cut = chunker(&lines, ",max_tokens=4", &INDEX).unwrap();
    let found = texts(&cut, &a).unwrap();
    assert!(found.iter().all(|text| text.split_whitespace().count() <= 4), "{found:?}");
    assert_eq!(found.iter().filter(|text| *text == "Four five six.").count(), 2, "{found:?}");
    for other in ["min_tokens=3", "overlap=1", "target_tokens=9"] {
        let said = chunker(&lines, &format!(",{other}"), &INDEX).unwrap_err();
        assert!(said.contains("kept as they are"), "{said}");
    }
}

#[test]
fn documents_that_the_file_does_not_name() {
    let lines = "{\"document\":\"a\",\"text\":\"uno\"}\n{\"document\":\"b\",\"text\":\"uno\"}";
    let documents: Vec<Document> = ["a", "c", "d", "e\u{1b}", "f"].map(|id| document(id, " uno due ")).into();
    let all: Vec<&Document> = documents.iter().collect();
    let strict = chunker(lines, "", &INDEX).unwrap();
    let said = strict.check_documents(&all).unwrap_err().to_string();
    assert!(
        said.contains("no chunk of 4 of 5 documents: `c`, `d`, `e\\u{1b}`, ...; it names 2 documents: `a`, `b`;"),
        "{said}"
    );
    assert!(texts(&strict, &documents[1]).unwrap_err().contains("no chunk of 1 of 1 document: `c`;"));
    assert_eq!(strict.check_documents(&all[..1]).map_err(|e| e.to_string()), Ok(()));
    let one = chunker(lines, ",missing=one", &INDEX).unwrap();
    assert_eq!(texts(&one, &documents[1]).unwrap(), ["uno due"]);
    let skip = chunker(lines, ",missing=skip", &INDEX).unwrap();
    assert!(texts(&skip, &documents[1]).unwrap().is_empty() && skip.check_documents(&all).is_ok());
}

#[test]
fn documents_that_others_know_by_another_name_and_with_more_words() {
    struct Known;
    impl Resources for Known {
        fn originals(&self) -> Arc<Originals> {
            let original = Original { text: Some("# Pumps\n\nuno".into()), path: Some("docs/a".into()) };
            Arc::new(Originals::from([("a".to_owned(), original)]))
        }
    }
    let a = document("a", "# \u{a7}   \n\nuno");
    let lines = r##"{"document":"docs/a","text":"# Pumps\n\nuno"}"##;
    let known = chunker(lines, "", &Known).unwrap();
    assert_eq!(known.check_documents(&[&a]).map_err(|e| e.to_string()), Ok(()));
    assert_eq!(texts(&known, &a).unwrap(), ["# \u{a7}   \n\nuno"]);
    assert!(chunker(lines, "", &INDEX).unwrap().check_documents(&[&a]).is_err());
}

#[test]
fn faults_name_file_line_and_document() {
    for (lines, says) in [
        ("", "there is no chunk in it"),
        ("{\"document\":\"a\",\"text\":\"x\"}\n{\"document\":", "line 2: "),
        ("{\"text\":\"x\"}", "missing field `document`"),
        ("{\"document\":\"a\",\"start\":-1,\"end\":2}", "line 1: "),
        ("{\"document\":\"a\",\"start\":1,\"end\":2,\"offsets\":\"letters\"}", "letters"),
        ("\u{0}", "line 1: "),
    ] {
        let said = chunker(lines, "", &INDEX).unwrap_err();
        assert!(said.contains("my, chunks.jsonl") && said.contains(says) && !said.contains('\n'), "{said}");
    }
    for (chunk, says) in [
        ("\"start\":0,\"end\":99", "reaches beyond the document, which has 7 bytes"),
        ("\"start\":3,\"end\":2", "behind its end"),
        ("\"start\":1,\"end\":2", "cuts a character"),
        ("\"text\":\"tre\"", "\"tre\" does not stand in the document"),
        ("\"start\":3", "needs both"),
    ] {
        let lines = format!("{{\"document\":\"a\",\"text\":\"d\u{f9}e\"}}\n{{\"document\":\"a\",{chunk}}}");
        let said = texts(&chunker(&lines, "", &INDEX).unwrap(), &document("a", "\u{f9} d\u{f9}e")).unwrap_err();
        assert!(said.contains("line 2, document `a`: ") && said.contains(says), "{said}");
    }
    let gone = Spec::parse("chunks:/no/such/file.jsonl").unwrap();
    let said = build_from(outside(), &gone, &INDEX).unwrap_err().to_string();
    assert!(said.contains("/no/such/file.jsonl: "), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec::new("chunks").unwrap().with("file", folder.path().display()).unwrap();
    assert!(build_from(outside(), &spec, &INDEX).is_err());
    assert!(
        build_from(outside(), &Spec::new("chunks").unwrap(), &INDEX).unwrap_err().to_string().contains("FILE.jsonl")
    );
}
