#![allow(clippy::unwrap_used, clippy::expect_used)]
//! What a crash leaves between any two steps of a write: the folder is copied there, and the copy opened.

use std::collections::BTreeSet;

use super::*;
use crate::directory::text_path;
use crate::{Mode, Query, Retriever};
use pericope_api::{Format, Rewrite, Span};
use pericope_testkit::documents::{copy_folder, made_up, sentence_chunks};
use pericope_testkit::encoders::{BagOfWords, DIMENSION};

fn spec() -> IndexSpec {
    IndexSpec::new("sentence", "words").with_encoder(BagOfWords::new())
}

/// Document, range and text of every chunk that a dense search finds.
fn contents(dir: &Path) -> BTreeSet<(String, usize, String)> {
    let reader = IndexReader::open_expecting(dir, &spec()).unwrap();
    let hits = reader.search(&Query::new("w0", Mode::Dense, 10_000)).unwrap();
    assert_eq!(hits.len() as u64, reader.chunks().unwrap(), "every chunk has exactly one vector");
    hits.into_iter().map(|hit| (hit.chunk.document, hit.chunk.start, hit.chunk.text)).collect()
}

/// The number of vectors, each of which can be read.
fn points(dir: &Path) -> usize {
    let snapshots = directory::open(dir, &IndexMeta::read(dir).unwrap()).unwrap();
    let vectors = snapshots.vectors(&snapshots.current()).unwrap().unwrap();
    let all = vectors.vectors_of(&vectors.all_points().unwrap()).unwrap();
    assert_eq!(all.len(), vectors.len());
    assert!(all.values().all(|vector| vector.len() == DIMENSION));
    all.len()
}

/// The files of the vectors that no commit names.
fn superfluous(dir: &Path) -> usize {
    let named = IndexWriter::create_or_open(dir, &spec()).unwrap();
    let count = || fs::read_dir(vectors_path(dir)).unwrap().count();
    let before = count();
    named.vectors.as_ref().unwrap().tidy(named.generation).unwrap();
    before - count()
}

#[test]
fn a_crash_between_any_two_steps_leaves_the_old_contents_or_the_new() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("index");
    let mut writer = IndexWriter::create_or_open(&dir, &spec()).unwrap();
    let (a, b) = (made_up("a", 1, 30), made_up("b", 2, 30));
    writer.add(&a, &sentence_chunks(&a)).unwrap();
    writer.add(&b, &sentence_chunks(&b)).unwrap();
    writer.commit().unwrap();

    // The second version of `a` shares its first half with the first; `b` goes; `c` is new.
    let half: Vec<String> =
        (0..15).map(|i| a.sentence(i).to_owned()).chain(["new w1.".into(), "more w2.".into()]).collect();
    let (a2, c) = (Document::from_sentences("a", &half), made_up("c", 3, 20));
    let mut copies = Vec::new();
    let mut crash = |name: &'static str| {
        copy_folder(&dir, &root.path().join(name));
        copies.push(name);
    };
    writer.add(&a2, &sentence_chunks(&a2)).unwrap();
    writer.remove("b").unwrap();
    writer.add(&c, &sentence_chunks(&c)).unwrap();
    crash("staged");
    writer.drain().unwrap();
    crash("points written");
    for (step, name) in
        IndexWriter::COMMIT_STEPS.iter().zip(["vectors written", "text committed", "manifest written", "done"])
    {
        step(&mut writer).unwrap();
        crash(name);
    }
    drop(writer);

    let expected = |documents: &[&Document]| -> BTreeSet<_> {
        let chunks = documents.iter().flat_map(|d| {
            sentence_chunks(d).into_iter().map(|c| (d.id.clone(), c.span.start, d.text(c.span).to_owned()))
        });
        chunks.collect()
    };
    let (old, new) = (expected(&[&a, &b]), expected(&[&a2, &c]));
    for name in copies {
        let copy = root.path().join(name);
        let wanted = if matches!(name, "text committed" | "manifest written" | "done") { &new } else { &old };
        assert_eq!(&contents(&copy), wanted, "{name}");
        // A search sees the vectors of its commit alone, and doing the work again ends where it should.
        assert_eq!(points(&copy), wanted.len(), "{name}");
        assert_eq!(superfluous(&copy), 0, "{name}: the next writer deletes what no commit names");
        let mut writer = IndexWriter::create_or_open(&copy, &spec()).unwrap();
        writer.add(&a2, &sentence_chunks(&a2)).unwrap();
        writer.remove("b").unwrap();
        writer.add(&c, &sentence_chunks(&c)).unwrap();
        let stats = writer.finish().unwrap();
        assert_eq!((stats.documents, stats.chunks), (2, 37), "{name}");
        assert_eq!(contents(&copy), new, "{name}");
        assert_eq!(points(&copy), 37, "{name}");
    }
}

#[test]
fn writing_a_document_twice_before_a_commit_leaves_the_second() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec()).unwrap();
    let (first, second) = (made_up("a", 1, 20), made_up("a", 2, 10));
    writer.add(&first, &sentence_chunks(&first)).unwrap();
    writer.drain().unwrap();
    writer.add(&second, &sentence_chunks(&second)).unwrap();
    writer.add(&first, &sentence_chunks(&first)).unwrap();
    writer.add(&second, &sentence_chunks(&second)).unwrap();
    let stats = writer.finish().unwrap();
    assert_eq!((stats.documents, stats.chunks), (1, 10));
    assert_eq!(contents(dir.path()).len(), 10);
    assert_eq!(points(dir.path()), 10);
}

#[test]
fn each_commit_carries_the_next_number() {
    let dir = tempfile::tempdir().unwrap();
    for sequence in 1..4 {
        let mut writer = IndexWriter::create_or_open(dir.path(), &spec()).unwrap();
        let document = made_up("a", sequence, 3);
        writer.add(&document, &sentence_chunks(&document)).unwrap();
        writer.commit().unwrap();
        writer.commit().unwrap();
        assert_eq!(writer.snapshots.current().committed.sequence, sequence);
    }
}

/// Tantivy names the file of a segment's deletions by a count that starts again from the last commit.
#[test]
fn files_of_a_commit_that_was_broken_off_are_not_in_the_way() {
    let root = tempfile::tempdir().unwrap();
    let (dir, rehearsal) = (root.path().join("index"), root.path().join("rehearsal"));
    let (a, b) = (made_up("a", 1, 2), made_up("b", 2, 60));
    let mut writer = IndexWriter::create_or_open(&dir, &spec()).unwrap();
    writer.add(&a, &sentence_chunks(&a)).unwrap();
    writer.add(&b, &sentence_chunks(&b)).unwrap();
    writer.finish().unwrap();
    copy_folder(&dir, &rehearsal);
    let mut writer = IndexWriter::create_or_open(&rehearsal, &spec()).unwrap();
    writer.remove("a").unwrap();
    writer.commit().unwrap();
    let deletions: Vec<String> = fs::read_dir(text_path(&rehearsal))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".del"))
        .collect();
    assert!(!deletions.is_empty());
    // As a process leaves it that is killed after it wrote these files, and before it wrote the commit.
    let list = text_path(&dir).join(".managed.json");
    let mut managed: Vec<String> = serde_json::from_str(&fs::read_to_string(&list).unwrap()).unwrap();
    for name in &deletions {
        fs::write(text_path(&dir).join(name), "half a file").unwrap();
        managed.push(name.clone());
    }
    fs::write(&list, serde_json::to_string(&managed).unwrap()).unwrap();
    let mut writer = IndexWriter::create_or_open(&dir, &spec()).unwrap();
    assert!(writer.remove("a").unwrap());
    assert_eq!(writer.finish().unwrap().chunks, 60);
    assert_eq!(contents(&dir).len(), 60);
}

/// The texts that a query finds by words.
fn by_words(dir: &Path, query: &str) -> Vec<String> {
    let hits = IndexReader::open(dir).unwrap().search(&Query::new(query, Mode::Bm25, 10)).unwrap();
    hits.into_iter().map(|hit| hit.chunk.text).collect()
}

const TEXTS: [&str; 2] = ["Die Häuser stehen auf der anderen Seite des Flusses.", "日本語の文書。"];

fn put(dir: &Path, spec: &IndexSpec, name: &str) -> Result<(), IndexError> {
    let mut writer = IndexWriter::create_or_open(dir, spec)?;
    for (n, text) in TEXTS.into_iter().enumerate() {
        let document = Document::from_sentences(&format!("{name}{n}"), &[text]);
        writer.add(&document, &sentence_chunks(&document))?;
    }
    writer.finish().map(drop)
}

#[test]
fn an_index_that_was_made_before_languages_goes_on_without_them() {
    let dir = tempfile::tempdir().unwrap();
    let spec = IndexSpec::new("sentence", "words");
    let mut meta =
        IndexMeta { text_analyzer: crate::ENGLISH_ANALYZER.to_owned(), language: None, ..IndexMeta::new(&spec) };
    meta.write(dir.path()).unwrap();
    put(dir.path(), &spec, "a").unwrap();
    // Added to later, it is the same.
    put(dir.path(), &spec, "b").unwrap();
    assert!(by_words(dir.path(), "Haus").is_empty(), "English stems");
    assert_eq!(by_words(dir.path(), "Häuser"), [TEXTS[0]; 2]);
    assert_eq!(by_words(dir.path(), "本語"), [TEXTS[1]; 2], "pairs of characters");
    let german = spec.clone().with_language(Some("de".parse().unwrap()));
    let error = put(dir.path(), &german, "c").unwrap_err().to_string();
    assert!(
        error.ends_with(
            "was built with language `en`, not `de`; ask for that one, use another directory or `--rebuild`"
        ),
        "{error}"
    );

    let mut writer = IndexWriter::rebuild(dir.path(), &spec).unwrap();
    for (n, text) in TEXTS.into_iter().enumerate() {
        let document = Document::from_sentences(&format!("a{n}"), &[text]);
        writer.add(&document, &sentence_chunks(&document)).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(IndexMeta::read(dir.path()).unwrap().text_analyzer, crate::TEXT_ANALYZER);
    assert_eq!(by_words(dir.path(), "文書"), [TEXTS[1]]);
    assert!(by_words(dir.path(), "本語").is_empty(), "words of a dictionary");
}

#[test]
fn an_index_that_was_made_before_texts_were_composed_goes_on_with_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let spec = IndexSpec::new("sentence", "words").with_language(Some("de".parse().unwrap()));
    let mut meta = IndexMeta { text_analyzer: "pericope-2".to_owned(), ..IndexMeta::new(&spec) };
    meta.write(dir.path()).unwrap();
    let text = "Die Mu\u{308}hle am Fluss mahlt das Getreide.";
    let add = |mut writer: IndexWriter, name: &str| {
        let document = Document::from_sentences(name, &[text]);
        writer.add(&document, &sentence_chunks(&document)).unwrap();
        writer.finish().unwrap();
    };
    for name in ["a", "b"] {
        add(IndexWriter::create_or_open(dir.path(), &spec).unwrap(), name);
    }
    assert!(by_words(dir.path(), "Mühle").is_empty(), "a mark cuts the word");
    assert_eq!(by_words(dir.path(), "Mu\u{308}hle"), [text; 2]);
    add(IndexWriter::rebuild(dir.path(), &spec).unwrap(), "a");
    assert_eq!(IndexMeta::read(dir.path()).unwrap().text_analyzer, crate::TEXT_ANALYZER);
    assert_eq!(by_words(dir.path(), "Mühle"), [text]);
}

#[test]
fn words_are_those_that_a_reader_sees() {
    let text = "<p class=\"display\">K&uuml;hlung im<b>port</b>ant fish</p>";
    let mut document = Document::from_sentences("a", &[text]);
    let tags = [("<p class=\"display\">", ""), ("&uuml;", "ü"), ("<b>", ""), ("</b>", ""), ("</p>", "")];
    let rewrites = tags.into_iter().map(|(tag, with)| {
        let start = text.find(tag).unwrap();
        Rewrite { span: Span::new(start, start + tag.len()), with: with.into() }
    });
    document.rewrites = rewrites.collect();
    document.format = Format::Html;
    let spec = IndexSpec::new("sentence", "words");
    let add_to = |dir: &Path, document: &Document| {
        let mut writer = IndexWriter::create_or_open(dir, &spec).unwrap();
        writer.add(document, &sentence_chunks(document)).unwrap();
        writer.finish().unwrap();
    };
    // Where markup has words of its own, they are found beside.
    let markdown = tempfile::tempdir().unwrap();
    add_to(markdown.path(), &Document { format: Format::Markdown, ..document.clone() });
    for query in ["Kühlung", "important", "fish", "display", "\"ant fish\""] {
        assert_eq!(by_words(markdown.path(), query), [text], "{query}");
    }
    // Words that are found beside the text are no neighbours.
    for query in ["\"Kühlung important\"", "\"fish Kühlung\""] {
        assert!(by_words(markdown.path(), query).is_empty(), "{query}");
    }
    let add = |dir: &Path| add_to(dir, &document);
    let dir = tempfile::tempdir().unwrap();
    add(dir.path());
    for query in ["Kühlung", "important", "fish", "\"important fish\""] {
        assert_eq!(by_words(dir.path(), query), [text], "{query}");
    }
    for query in ["display", "uuml", "port"] {
        assert!(by_words(dir.path(), query).is_empty(), "{query}");
    }
    let hits = IndexReader::open(dir.path()).unwrap().search(&Query::new("Kühlung fish", Mode::Bm25, 1)).unwrap();
    let marks: Vec<&str> = hits.iter().flat_map(|hit| &hit.highlights).map(|mark| mark.of(text)).collect();
    assert_eq!(marks, ["fish"], "what stands there in other characters is not marked");

    let before = tempfile::tempdir().unwrap();
    let mut meta = IndexMeta { text_analyzer: "pericope-2".to_owned(), ..IndexMeta::new(&spec) };
    meta.write(before.path()).unwrap();
    add(before.path());
    assert!(by_words(before.path(), "Kühlung").is_empty());
    assert_eq!(by_words(before.path(), "display"), [text]);
}

#[test]
fn words_are_found_as_they_are_typed() {
    for (language, text, queries) in [
        ("es", "La configuraci\u{f3}n del sistema.", ["configuración", "configuracion"]),
        ("ko", "물과 불", ["물", "\"물과 불\""]),
        ("ru", "Новая ёлка стои\u{301}т здесь.", ["елка", "стоит"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let spec = IndexSpec::new("sentence", "words").with_language(Some(language.parse().unwrap()));
        let document = Document::from_sentences("a", &[text]);
        let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
        writer.add(&document, &sentence_chunks(&document)).unwrap();
        writer.finish().unwrap();
        for query in queries {
            let hits = IndexReader::open(dir.path()).unwrap().search(&Query::new(query, Mode::Bm25, 10)).unwrap();
            assert_eq!(hits.len(), 1, "{query}");
            assert!(!hits.iter().any(|hit| hit.highlights.is_empty()), "{query}");
        }
    }
}

#[test]
fn each_document_is_read_in_its_language_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &IndexSpec::new("sentence", "words"), "a").unwrap();
    let reader = IndexReader::open(dir.path()).unwrap();
    let found = |query: &str| reader.search(&Query::new(query, Mode::Bm25, 10)).unwrap();
    let hit = found("\"stehen auf\" Haus").remove(0);
    assert_eq!((hit.chunk.language.code(), hit.chunk.text.as_str()), ("de", TEXTS[0]));
    let marks: Vec<&str> = hit.highlights.iter().map(|mark| mark.of(TEXTS[0])).collect();
    assert_eq!(marks, ["Häuser", "stehen", "auf"]);
    assert_eq!(found("文書").remove(0).chunk.language.code(), "ja");
    assert_eq!(reader.meta().language, Some(pericope_store::LanguageChoice::Auto));
    // A language that was named is that of all documents.
    let fixed = tempfile::tempdir().unwrap();
    put(fixed.path(), &IndexSpec::new("sentence", "words").with_language(Some("en".parse().unwrap())), "a").unwrap();
    assert!(by_words(fixed.path(), "Haus").is_empty());
    assert_eq!(by_words(fixed.path(), "文書"), [TEXTS[1]]);
}
