#![allow(clippy::unwrap_used)]

use crate::data::{DataKind, Selection, load, select};

#[test]
fn every_question_has_an_id_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let qa = |id: &str| format!(r#"{{"id":"{id}","question":"What?","answers":[{{"text":"Two.","answer_start":5}}]}}"#);
    let paragraph = |qas: &[String]| format!(r#"{{"context":"One. Two.","qas":[{}]}}"#, qas.join(","));
    let one = format!("{},{}", paragraph(&[qa(""), qa("x")]), paragraph(&[qa(""), qa("x")]));
    let text = format!(r#"{{"data":[{{"title":"T","id":"d","paragraphs":[{one}]}}]}}"#);
    let path = folder.path().join("q.json");
    std::fs::write(&path, text).unwrap();
    let ids: Vec<String> = load(DataKind::Squad, &path).unwrap().questions.into_iter().map(|q| q.id).collect();
    assert_eq!(ids, ["d#0", "x", "d#2", "x (2)"]);
}

#[test]
fn what_was_taken_out_of_a_text_and_its_path_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.json");
    let of = |masked: &str| {
        let qas = r#"[{"question":"What?","answers":[{"text":"Two.","answer_start":10}]}]"#;
        let text = format!(
            r##"{{"data":[{{"id":"d","path":"docs/d","paragraphs":[{{"context":"# §   Two.","qas":{qas},"masked":[{masked}]}},
            {{"context":"More."}}]}}]}}"##
        );
        std::fs::write(&path, text).unwrap();
        let set = load(DataKind::Squad, &path).unwrap();
        assert_eq!(set.originals["d"].path.as_deref(), Some("docs/d"));
        set.originals["d"].text.as_deref().map(str::to_owned)
    };
    assert_eq!(of(r#"{"start":2,"text":"Pumps"}"#).as_deref(), Some("# PumpsTwo.\n\nMore."));
    // What does not fit is as if it were not there.
    for wrong in [
        r#"{"start":3,"text":"Pumps"}"#,
        r#"{"start":9,"text":"Pumps"}"#,
        r#"{"start":18446744073709551615,"text":"Pumps"}"#,
        r#"{"start":4,"text":"P"},{"start":2,"text":"Pu"}"#,
    ] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}

#[test]
fn a_folder_is_read_by_split_and_source() {
    let folder = tempfile::tempdir().unwrap();
    let article = |id: &str, source: &str| {
        format!(
            r#"{{"data":[{{"title":"{id}","source":"{source}","paragraphs":[{{"context":"One. Two.","qas":[
            {{"id":"{id}-q","question":"What?","answers":[{{"text":"Two.","answer_start":5}}]}}]}}]}}]}}"#
        )
    };
    for (name, source) in [("qa_train", "red"), ("qa_dev", "blue"), ("qa_test", "red"), ("latest", "green")] {
        std::fs::write(folder.path().join(format!("{name}.json")), article(name, source)).unwrap();
    }
    let ids = |selection: &Selection| -> Vec<String> {
        let set = select(DataKind::Squad, folder.path(), selection).unwrap();
        set.questions.into_iter().map(|q| q.id).collect()
    };
    let split = |name: &str| Selection { split: Some(name.into()), ..Selection::default() };
    // `latest` holds the letters of `test` and is another word.
    assert_eq!(ids(&split("test")), ["qa_test-q"]);
    assert_eq!(ids(&Selection { sources: vec!["red".into()], ..Selection::default() }), ["qa_test-q", "qa_train-q"]);
    assert_eq!(load(DataKind::Squad, folder.path()).unwrap().checksums.len(), 4);
    let of = |selection: &Selection| select(DataKind::Squad, folder.path(), selection).unwrap_err().to_string();
    assert!(of(&split("final")).contains("\"final\""));
    let error = of(&Selection { sources: vec!["pink".into()], ..Selection::default() });
    assert!(error.contains("pink") && error.contains("blue, green, red"), "{error}");
}

fn write(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn offsets_are_code_points_and_wrong_ones_are_mended_or_named() {
    let file = write(
        r#"{"version":"1.1","data":[{"title":"t","paragraphs":[
        {"context":"Première. Deux fois. Deux fois.","qas":[
          {"id":1,"question":"a?","answers":[{"text":"Première.","answer_start":0}]},
          {"id":"2","question":"b?","answers":[{"text":"Première.","answer_start":7}]},
          {"id":"3","question":"c?","answers":[{"text":"Deux fois.","answer_start":1}]},
          {"id":"4","question":"d?","answers":[{"text":" Deux fois.","answer_start":9}]},
          {"id":"5","question":"e?","answers":[{"text":"absent","answer_start":0}]}]},
        {"context":"Second piece é.","qas":[{"question":"f?","answers":[{"text":"é.","answer_start":13}]}]}]}]}"#,
    );
    let set = load(DataKind::Squad, file.path()).unwrap();
    assert_eq!(set.documents.len(), 1);
    let source = &set.documents[0].source;
    let found: Vec<_> = set.questions.iter().map(|q| (q.id.as_str(), q.gold[0].of(source))).collect();
    assert_eq!(found, [("1", "Première."), ("2", "Première."), ("4", "Deux fois."), ("t#5", "é.")]);
    assert_eq!(set.skipped.len(), 2, "{:?}", set.skipped);
    let [one] = set.mended.as_slice() else { panic!("{:?}", set.mended) };
    assert_eq!(one, "question 'b?' of t: its answer is not at answer_start 7 but at 0");
}

#[test]
fn an_id_that_was_there_before_is_another_one_and_that_is_told() {
    let qa = |id: &str| format!(r#"{{"id":"{id}","question":"{id}?","answers":[{{"text":"Two.","answer_start":5}}]}}"#);
    let qas = [qa("a"), qa("b"), qa("a")].join(",");
    let file = write(&format!(r#"{{"data":[{{"paragraphs":[{{"context":"One. Two.","qas":[{qas}]}}]}}]}}"#));
    let set = load(DataKind::Squad, file.path()).unwrap();
    assert_eq!(set.questions.iter().map(|q| q.id.as_str()).collect::<Vec<_>>(), ["a", "b", "a (2)"]);
    assert_eq!(set.mended, [r#"question 'a?': its id "a" was there before; here it is "a (2)""#]);
}

#[test]
fn a_bad_article_costs_itself_alone() {
    let article = |title: &str, start: &str, format: &str| {
        format!(
            r#"{{"title":"{title}","source":"of {title}","format":"{format}","paragraphs":[{{"context":"One. Two.","qas":[
            {{"question":"{title}?","answers":[{{"text":"Two.","answer_start":{start}}}]}}]}}]}}"#
        )
    };
    let parts = [
        article("a", "5", "plain"),
        "{\"title\":\"no paragraphs\"}".to_owned(),
        article("b", "-1", "plain"),
        article("c", "1e300", "plain"),
        article("broken", "5", "plain"),
        article("unknown", "5", "no such format"),
        article("a", "5", "plain"),
        article("a (2)", "99999999999999999999999", "plain"),
        "7".to_owned(),
    ];
    let text = format!("\u{feff}{{\"data\":[{}]}}", parts.join(","));
    let at = text.find("broken").unwrap();
    let mut bytes = text.into_bytes();
    bytes[at] = 0xff;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let set = load(DataKind::Squad, file.path()).unwrap();
    let asked: Vec<&str> = set.questions.iter().map(|q| q.text.as_str()).collect();
    assert_eq!(asked, ["a?", "b?", "c?", "a?", "a (2)?"]);
    let ids: Vec<&str> = set.documents.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "a (2)", "a (2) (2)"]);
    assert!(set.questions.iter().all(|q| set.documents[q.document].title.as_deref().unwrap().len() < 6));
    let sources: Vec<&str> = ids.iter().map(|id| set.sources[*id].as_str()).collect();
    assert_eq!(
        sources,
        ["of a", "of b", "of c", "of a", "of a (2)"],
        "what a bad article costs is not the others' source"
    );
    let skipped = set.skipped.join("\n");
    for says in ["article 2 of", "missing field `paragraphs`", "article 5 of", "not UTF-8", "unknown", "article 9 of"] {
        assert!(skipped.contains(says), "{says}: {skipped}");
    }
    assert_eq!(set.skipped.len(), 4, "{skipped}");
}

#[test]
fn questions_that_are_impossible_are_no_loss_and_those_whose_answer_is_missing_are() {
    let answer = r#"[{"text":"Two.","answer_start":5}]"#;
    let lost = r#"[{"text":"Three.","answer_start":-4}]"#;
    let qa = |answers: &str| format!(r#"{{"question":"What?","answers":{answers}}}"#);
    let impossible = r#"{"question":"Why?","answers":[],"is_impossible":true}"#.to_owned();
    let qas = [qa(answer), qa("[]"), qa(lost), impossible].join(",");
    let file = write(&format!(r#"{{"data":[{{"paragraphs":[{{"context":"One. Two.","qas":[{qas}]}}]}}]}}"#));
    let set = load(DataKind::Squad, file.path()).unwrap();
    assert_eq!((set.questions.len(), set.skipped.len(), set.left_out()), (1, 3, 2), "{:?}", set.skipped);
    let said = &set.skipped[1];
    assert!(said.ends_with("not in the text, answer_start (no whole number from 0 on)"), "{said}");
}

#[test]
fn a_half_written_file_is_named() {
    let file = write(r#"{"data":[{"paragraphs":[{"context":"#);
    let error = load(DataKind::Squad, file.path()).unwrap_err().to_string();
    assert!(error.contains("SQuAD") && error.contains("line 1"), "{error}");
}
