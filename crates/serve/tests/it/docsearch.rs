//! Answers in the shape of DocSearch.

use serde_json::{Value, json};

use crate::common::{ask, get, post, serve};

fn check(hit: &Value) {
    assert_eq!(hit["url"], "https://example.org/docs/guide/tides#spring-tides");
    assert_eq!(hit["url_without_anchor"], "https://example.org/docs/guide/tides");
    assert_eq!((&hit["anchor"], &hit["type"]), (&json!("spring-tides"), &json!("content")));
    let levels = json!({
        "lvl0": "Tides", "lvl1": "Tides", "lvl2": "Spring tides", "lvl3": null, "lvl4": null, "lvl5": null, "lvl6": null
    });
    assert_eq!(hit["hierarchy"], levels);
    assert!(hit["content"].as_str().unwrap().contains("full moon") && hit["objectID"].as_str().unwrap().len() == 36);
    assert_eq!(hit["_snippetResult"]["hierarchy"]["lvl2"]["value"], "<mark>Spring</mark> <mark>tides</mark>");
    assert_eq!(hit["_highlightResult"]["hierarchy"]["lvl2"]["matchLevel"], "full");
    assert!(hit["_snippetResult"]["content"]["value"].as_str().unwrap().contains("<mark>Spring</mark>"));
}

#[test]
fn widgets_are_answered_at_all_their_paths() {
    let server = serve(|_| ()).ready();
    let one = get(
        server.address,
        "/v1/docsearch?query=spring+tides&mode=bm25&hitsPerPage=1&highlightPreTag=%3Cmark%3E&highlightPostTag=%3C/mark%3E",
    );
    assert_eq!(one.status, 200, "{}", one.text());
    let one = one.json();
    check(&one["hits"][0]);
    assert_eq!((&one["hitsPerPage"], &one["page"], &one["index"]), (&json!(1), &json!(0), &json!("docs")));
    assert!(one["nbPages"].as_u64() > Some(1) && one["nbHits"].as_u64() > Some(1));
    let query = json!({
        "indexName": "some-name-of-the-widget", "query": "spring tides", "mode": "bm25",
        "params": { "hitsPerPage": 1, "highlightPreTag": "<mark>", "highlightPostTag": "</mark>" }
    });
    let body = json!({ "requests": [query, { "indexName": "docs", "params": "query=bread" }] });
    for path in ["/v1/docsearch", "/1/indexes/*/queries"] {
        // Widgets call it a form, so that the browser asks no leave first.
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer = ask(server.address, "POST", path, &form, body.to_string().as_bytes()).json();
        check(&answer["results"][0]["hits"][0]);
        assert_eq!(answer["results"][1]["query"], "bread");
    }
    let alone = json!({ "params": "query=spring+tides&mode=bm25&hitsPerPage=1&highlightPreTag=%3Cmark%3E&highlightPostTag=%3C%2Fmark%3E" });
    check(&post(server.address, "/1/indexes/docs/query", &alone).json()["hits"][0]);
}

#[test]
fn pages_follow_one_another() {
    let server = serve(|_| ()).ready();
    let page = |n: usize| {
        let answer = get(server.address, &format!("/v1/docsearch?query=moon&mode=bm25&hitsPerPage=2&page={n}")).json();
        answer["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["objectID"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = get(server.address, "/v1/docsearch?query=moon&mode=bm25&hitsPerPage=4").json();
    let all: Vec<String> =
        all["hits"].as_array().unwrap().iter().map(|hit| hit["objectID"].as_str().unwrap().to_owned()).collect();
    assert_eq!([page(0), page(1)].concat(), all);
    assert!(page(99).is_empty());
    assert_eq!(get(server.address, "/v1/docsearch?query=").json()["hits"], json!([]));
    assert_eq!(get(server.address, "/v1/docsearch?query=a&hitsPerPage=0").code(), "bad-parameter");
    assert_eq!(post(server.address, "/v1/docsearch", &json!([1])).code(), "bad-parameter");
    assert_eq!(ask(server.address, "POST", "/v1/docsearch", &[], b"{").code(), "bad-body");
}
