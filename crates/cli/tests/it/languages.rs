//! German and Japanese documents, indexed and searched as a user there would: the corpora in `corpora/de` and `corpora/ja`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{root, stderr, stdout, without_models};

/// Indexes a corpus of a language into a folder; more arguments may follow.
fn indexed(folder: &Path, language: &str, into: &str, more: &[&str]) -> Value {
    let articles = root().join("corpora").join(language).join("articles");
    let output = without_models(folder)
        .args(["index", articles.to_str().unwrap(), "--into", into, "--embedder", "none", "--json"])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// The hits of a query, best first.
fn found(folder: &Path, index: &str, query: &str) -> Vec<Value> {
    let output = without_models(folder).args(["search", query, "--in", index, "--json", "--k", "3"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    answer["hits"].as_array().unwrap().clone()
}

/// Checks that the first hit is of this article, that its text holds the passage, and that these words are marked in it.
fn check(folder: &Path, index: &str, (query, article, passage, marked): (&str, &str, &str, &[&str])) {
    let hits = found(folder, index, query);
    let first = hits.first().unwrap_or_else(|| panic!("{query}: nothing is found"));
    let text = first["text"].as_str().unwrap();
    assert!(first["document"].as_str().unwrap().ends_with(article), "{query}: {first}");
    assert!(text.contains(passage), "{query}: {text}");
    let marks: Vec<&str> = (first["highlights"].as_array().unwrap().iter())
        .map(|mark| &text[mark[0].as_u64().unwrap() as usize..mark[1].as_u64().unwrap() as usize])
        .collect();
    for word in marked {
        assert!(marks.contains(word), "{query}: {word} is not among {marks:?}");
    }
}

#[test]
fn german_words_are_found_in_any_form() {
    let folder = tempfile::tempdir().unwrap();
    indexed(folder.path(), "de", "x.idx", &[]);
    for case in [
        // Plural for singular, umlaut in one of them alone.
        ("Gehörschützer und Schutzbrillen", "sicherheit.md", "Gehörschutz und Schutzbrille", &["Schutzbrille"][..]),
        ("schärfen und reinigen", "saegeblaetter.md", "Geschärft wird nicht im Haus", &["schärfen", "Schärfen"]),
        ("verlorener Bohrer", "ausgabe.md", "Verlorene Bits und Bohrer", &["Verlorene", "Bohrer"]),
        ("Haus suchen", "unterlagen.md", "Wer nach Häusern fragt", &["Häusern", "Haus"]),
        // Without umlauts, and with what is typed for them.
        ("Kuchenplatte", "leime.md", "Küchenplatten und Badmöbel", &["Küchenplatten"]),
        ("Oeztuerk Reparaturen", "ausgabe.md", "Herr Öztürk", &["Öztürk", "Reparatur"]),
        ("Strassen", "", "", &[]),
        // A phrase, as it stands.
        ("\"im rechten Winkel\"", "leime.md", "Zwinge und Fuge stehen im rechten Winkel", &["rechten", "Winkel"]),
        ("Wann wird der Entfeuchter eingeschaltet?", "holzlager.md", "siebzig Prozent", &["Entfeuchter"]),
    ] {
        match case.1 {
            "" => assert!(found(folder.path(), "x.idx", case.0).is_empty(), "{}", case.0),
            _ => check(folder.path(), "x.idx", case),
        }
    }
}

#[test]
fn japanese_words_are_found_in_mid_sentence() {
    let folder = tempfile::tempdir().unwrap();
    indexed(folder.path(), "ja", "x.idx", &[]);
    for case in [
        ("除湿機", "mokuzai.md", "除湿機を動かします", &["除湿機"][..]),
        ("含水率の測り方", "mokuzai.md", "含水率計の針は", &[]),
        ("手袋の禁止", "anzen.md", "手袋は刃に巻き込まれるおそれがある", &["手袋", "禁止"]),
        ("椿油", "nokogiri.md", "乾いた刃には椿油を薄く塗り", &[]),
        ("膠で修復", "setchakuzai.md", "古い家具の修復には膠を使います", &["修復"]),
        // With and without the mark of a long vowel.
        ("サーバ", "shorui.md", "サーバーを分ける必要はありません", &["サーバー"]),
        ("\"会計の担当者\"", "shorui.md", "会計の担当者が記録に署名します", &["会計", "担当"]),
    ] {
        check(folder.path(), "x.idx", case);
    }
}

#[test]
fn one_index_holds_documents_in_several_languages() {
    let folder = tempfile::tempdir().unwrap();
    indexed(folder.path(), "de", "x.idx", &[]);
    indexed(folder.path(), "ja", "x.idx", &[]);
    fs::create_dir(folder.path().join("en")).unwrap();
    let english = "# The mills\n\nThe old mills by the river grind grain for the whole valley. Their houses are made of \
                   stone, and their wheels turn day and night.\n";
    fs::write(folder.path().join("en/mills.md"), english).unwrap();
    let output =
        without_models(folder.path()).args(["index", "en", "--into", "x.idx", "--embedder", "none"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for case in [
        ("wheel of the mill", "mills.md", "their wheels turn", &["wheels", "mills"][..]),
        ("Haus suchen", "unterlagen.md", "Wer nach Häusern fragt", &["Häusern", "Haus"]),
        ("除湿機", "mokuzai.md", "除湿機を動かします", &["除湿機"]),
    ] {
        check(folder.path(), "x.idx", case);
    }
}

#[test]
fn a_collection_on_a_server_has_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let server = pericope_testkit::qdrant::Server::start().unwrap();
    let url = server.url("docs");
    indexed(folder.path(), "de", &url, &[]);
    indexed(folder.path(), "ja", &url, &[]);
    for case in [
        ("verlorener Bohrer", "ausgabe.md", "Verlorene Bits und Bohrer", &["Verlorene", "Bohrer"][..]),
        ("Oeztuerk Reparaturen", "ausgabe.md", "Herr Öztürk", &["Öztürk", "Reparatur"]),
        ("除湿機", "mokuzai.md", "除湿機を動かします", &["除湿機"]),
        ("サーバ", "shorui.md", "サーバーを分ける必要はありません", &["サーバー"]),
    ] {
        check(folder.path(), &url, case);
    }
    // Not said again, the language is what the collection was made with.
    assert_eq!(indexed(folder.path(), "de", &url, &[])["documents_written"], 0);
    let articles = root().join("corpora/de/articles");
    let args = ["index", articles.to_str().unwrap(), "--into", &url, "--embedder", "none", "--language", "de"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("language"), "{}", stderr(&output));
}

#[test]
fn the_language_is_what_the_index_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    indexed(folder.path(), "de", "x.idx", &["--language", "de"]);
    // Not said again, it is the same.
    assert_eq!(indexed(folder.path(), "de", "x.idx", &[])["documents_written"], 0);
    let articles = root().join("corpora/de/articles");
    let run = |language: &str| {
        let args =
            ["index", articles.to_str().unwrap(), "--into", "x.idx", "--embedder", "none", "--language", language];
        without_models(folder.path()).args(args).output().unwrap()
    };
    let output = run("en");
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("language") && said.contains("de") && said.contains("--rebuild"), "{said}");
    let output = run("klingon");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no language \"klingon\"; known: auto, ar, da"), "{}", stderr(&output));
}

/// A tokenizer of words and marks, each of which is a token that is not known.
const TOKENIZER: &str = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
    "pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
    "model":{"type":"WordLevel","vocab":{"[UNK]":0},"unk_token":"[UNK]"}}"#;

#[test]
fn a_tokenizer_may_be_a_file_and_the_index_remembers_which() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    let report = indexed(folder.path(), "de", "x.idx", &["--tokenizer", "tokenizer.json", "--max-tokens", "40"]);
    let name = report["tokenizer"].as_str().unwrap().to_owned();
    assert!(name.starts_with("tokenizer.json@"), "{name}");
    assert!(report["chunks"].as_u64().unwrap() > 24, "{report}");
    assert_eq!(indexed(folder.path(), "de", "x.idx", &["--max-tokens", "40"])["tokenizer"], name.as_str());
    // Another file under the same name is refused.
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER.replace("null,\n", "null, \n")).unwrap();
    let articles = root().join("corpora/de/articles");
    let args = ["index", articles.to_str().unwrap(), "--into", "x.idx", "--embedder", "none"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("its SHA-256 begins with"), "{}", stderr(&output));
    let args = ["segment", articles.to_str().unwrap(), "--tokenizer", "nothing.json"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nothing.json"), "{}", stderr(&output));
}

/// What is installed does not change the unit: a folder that looks like a model's is not looked at.
#[test]
fn a_command_cuts_alike_whatever_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("models/minilm")).unwrap();
    fs::write(home.join("models/minilm/tokenizer.json"), TOKENIZER).unwrap();
    let article = root().join("corpora/de/articles/hobel.md");
    let cut = |with: bool, args: &[&str]| {
        let mut command = without_models(folder.path());
        if with {
            command.env("PERICOPE_HOME", &home);
        }
        command.args(args).arg(&article).output().unwrap()
    };
    let segment = ["segment", "--max-tokens", "30", "--format", "json"];
    let bare = cut(false, &segment);
    assert!(bare.status.success(), "{}", stderr(&bare));
    assert_eq!(stdout(&cut(true, &segment)), stdout(&bare));
    assert_eq!(
        stdout(&cut(false, &["segment", "--max-tokens", "30", "--format", "json", "--tokenizer", "words"])),
        stdout(&bare)
    );
    // What reads with the model needs it, and says how to get it.
    for args in [&["index", "--into", "m.idx"][..], &["segment", "--tokenizer", "minilm"]] {
        let output = cut(false, args);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("pericope models pull minilm"), "{}", stderr(&output));
    }
}
