//! Collections that another program made.

use pericope_qdrant::{Listener, OthersCollection};
use pericope_testkit::qdrant::Server;
use serde_json::json;

fn open(url: &str) -> OthersCollection {
    OthersCollection::open(url, Listener::default()).unwrap()
}

fn found(collection: &OthersCollection, vector: &[f32], k: usize) -> Vec<(String, Option<String>)> {
    let passages = collection.nearest(vector, k).unwrap();
    passages.into_iter().map(|passage| (passage.text, passage.document)).collect()
}

#[test]
fn passages_of_langchain_and_of_anybody() {
    let server = Server::start().unwrap();
    let page = |text: &str, source: &str| json!({"page_content": text, "metadata": {"source": source, "page": 3}});
    let points = [
        (vec![1.0, 0.0], page("Foxes dig.", "a.md")),
        (vec![0.0, 1.0], page("Owls hoot.", "b.md")),
        (vec![1.0, 1.0], json!({"page_content": "Bats fly.", "metadata": 3})),
    ];
    server.fill("langchain", None, &points).unwrap();
    let collection = open(&server.url("langchain"));
    let passage = |text: &str, document: Option<&str>| (text.to_owned(), document.map(str::to_owned));
    assert_eq!(found(&collection, &[1.0, 0.1], 2), [passage("Foxes dig.", Some("a.md")), passage("Bats fly.", None)]);
    assert_eq!(found(&collection, &[0.0, 2.0], 9).len(), 3);
    assert!(found(&collection, &[1.0, 0.0], 0).is_empty());

    let points = [(vec![1.0], json!({"body": {"text": "Foxes dig."}, "file.name": "a.md"}))];
    server.fill("mine", Some("minilm"), &points).unwrap();
    let url = format!("{}&text=body.text&document=file.name&vector=minilm", server.url("mine"));
    assert_eq!(found(&open(&url), &[1.0], 3), [passage("Foxes dig.", Some("a.md"))]);

    for (url, vector, says) in [
        (format!("{}&vector=minilm", server.url("mine")), vec![1.0], "its fields are: body, file.name"),
        (server.url("none"), vec![1.0], "none"),
        (server.url("langchain"), vec![1.0], "dimension"),
    ] {
        let error = open(&url).nearest(&vector, 3).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}
