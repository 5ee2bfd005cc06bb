#![allow(clippy::unwrap_used)]
use super::*;
use crate::run::items::page;
use pericope_eval::cell::Cutoff;
use pericope_eval::record::{Answer, Judgement};
use serde_json::Value;

fn item(chunker: &str, text: &str) -> Item {
    Item {
        question_id: "q".into(),
        question: "Why </script><b>?".into(),
        chunker: chunker.into(),
        mode: "dense".into(),
        cutoff: Cutoff::K(3),
        retrieved: vec![Retrieved { document: "d".into(), end: 4, text: text.into(), ..Retrieved::default() }],
        answer: Some(Answer { text: "Because".into(), ..Answer::default() }),
        judgement: Some(Judgement { score: 7.0, reason: "close".into(), votes: vec![7.0], ..Judgement::default() }),
        metrics: [("judge".into(), 7.0), ("span_recall".into(), 0.123_456)].into(),
        ..Item::default()
    }
}

#[test]
fn items_are_held_once_and_cannot_end_the_block() {
    let mut items = Items::default();
    items.take(&item("a", "text"));
    items.take(&Item { status: Status::Failed, error: Some("timed out".into()), ..item("b", "text") });
    let mut page = Vec::new();
    page::write(&mut page, "x", &items).unwrap();
    let page = String::from_utf8(page).unwrap();
    let (_, after) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["questions"][0]["text"], "Why </script><b>?");
    assert_eq!((data["chunks"].as_array().unwrap().len(), data["items"].as_array().unwrap().len()), (1, 2));
    assert_eq!(data["items"][0]["j"]["reason"], "close");
    assert_eq!(data["items"][1]["e"], "timed out");
    assert_eq!(data["settings"][0].as_str().unwrap().replace('\u{a0}', " "), "dense, k = 3");
    assert_eq!(data["items"][0]["m"], json!([7.0, 0.1235]));
}

/// The data of the page of these items.
fn data(items: &Items) -> Value {
    let mut out = Vec::new();
    items.write(&mut out, "x").unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn texts_have_a_limit() {
    let mut items = Items::with_room(Room { items: 9, bytes: 9_000_000, texts: 5 });
    items.take(&item("a", "long text"));
    let data = data(&items);
    assert_eq!((&data["withoutText"], &data["chunks"][0][4], &data["leftOut"]), (&json!(1), &json!(""), &Value::Null));
    assert!(clipped(&"é".repeat(TEXT), TEXT).len() < TEXT + 8);
}

#[test]
fn nothing_on_the_page_is_longer_than_its_limit() {
    let long = "ü<".repeat(1 << 20);
    let retrieved = Retrieved {
        document: long.clone(),
        heading_path: vec![long.clone(); 50],
        text: long.clone(),
        ..Retrieved::default()
    };
    let hostile = Item {
        question_id: long.clone(),
        question: long.clone(),
        chunker: long.clone(),
        gold: pericope_eval::record::Gold {
            document: long.clone(),
            spans: vec![pericope_api::Span { start: 9, end: 3 }; 100_000],
            text: long.clone(),
        },
        retrieved: vec![retrieved],
        answer: Some(Answer { text: long.clone(), ..Answer::default() }),
        judgement: Some(Judgement {
            score: f64::NAN,
            reason: long.clone(),
            votes: vec![1.0; 100_000],
            failed_votes: 0,
        }),
        status: Status::Failed,
        error: Some(long.clone()),
        ..item("a", "")
    };
    let mut items = Items::default();
    items.take(&hostile);
    let mut out = Vec::new();
    items.write(&mut out, "x").unwrap();
    // The texts of one item, in which every other letter takes six bytes.
    assert!(out.len() < 100_000, "{}", out.len());
    assert!(items.bytes < 100_000, "{}", items.bytes);
}

#[test]
fn a_page_has_room_for_the_first_questions_with_all_that_is_theirs() {
    let room = Room { items: 40, bytes: 1 << 20, texts: 1 << 20 };
    let mut items = Items::with_room(room);
    // Chunker by chunker, as a run makes them.
    for chunker in ["a", "b", "c"] {
        for question in 0..100 {
            let mut one = item(chunker, &format!("text {question} of {chunker}"));
            one.question_id = format!("q{question}");
            one.retrieved[0].document = format!("d{question}");
            one.retrieved[0].start = chunker.len();
            items.take(&one);
            assert!(items.rows.len() <= room.items && items.chunks.len() <= room.items);
        }
    }
    let data = data(&items);
    let held = data["questions"].as_array().unwrap().len();
    let rows = data["items"].as_array().unwrap();
    assert!((5..=13).contains(&held), "{held}");
    assert_eq!(rows.len(), 3 * held);
    assert_eq!(data["leftOut"], json!({"questions": 100 - held, "items": 300 - 3 * held}));
    for row in rows {
        let (question, chunk) = (row["q"].as_u64().unwrap(), row["r"][0][0].as_u64().unwrap() as usize);
        assert_eq!(data["chunks"][chunk][0], format!("d{question}"), "a row refers to its own chunk");
    }
    // Numbers stay those of all questions.
    assert_eq!(items.question(99), "q99");
    // One question with more items than there is room for.
    let mut items = Items::with_room(room);
    (0..100).for_each(|_| drop(items.take(&item("a", "text"))));
    assert!(items.rows.len() <= room.items && items.left_out >= 60);
}
