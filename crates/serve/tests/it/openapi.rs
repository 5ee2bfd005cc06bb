//! The OpenAPI document and the routes are the same.

use serde_json::Value;

use crate::common::{ask, get, serve};

#[test]
fn every_path_of_the_document_is_a_route() {
    let server = serve(|_| ()).ready();
    let document = get(server.address, "/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    assert_eq!(document["info"]["title"], "Pericope");
    let mut seen = std::collections::HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let reply = ask(server.address, &method.to_uppercase(), &path.replace(['{', '}'], "x"), &[], b"");
            let routed = !["no-such-route", "wrong-method"].map(Some).contains(&code(&reply.body).as_deref());
            assert!(routed, "{method} {path}: {}", reply.text());
            assert!(operation["summary"].is_string(), "{method} {path}");
            let id = operation["operationId"].as_str().unwrap();
            assert!(seen.insert(id.to_owned()), "two operations are called {id}");
            assert!(operation["responses"]["200"]["description"].is_string(), "{method} {path}");
        }
    }
    assert!(seen.len() >= 20, "{seen:?}");
}

fn code(body: &[u8]) -> Option<String> {
    serde_json::from_slice::<Value>(body).ok()?.get("code")?.as_str().map(str::to_owned)
}

/// The contract of the API: nothing of it goes away.
#[test]
fn the_contract_is_in_the_document() {
    let document: Value = serde_json::from_str(pericope_serve::http::openapi()).unwrap();
    for (method, path) in [
        ("get", "/v1/search"),
        ("get", "/v1/documents"),
        ("get", "/v1/documents/{id}"),
        ("get", "/v1/chunks/{id}"),
        ("post", "/v1/segment"),
        ("post", "/v1/compare"),
        ("get", "/v1/segmenters"),
        ("get", "/v1/indexes"),
        ("post", "/v1/indexes/{name}/refresh"),
        ("get", "/v1/docsearch"),
        ("post", "/v1/docsearch"),
        ("post", "/1/indexes/{name}/queries"),
        ("post", "/1/indexes/{name}/query"),
        ("get", "/healthz"),
        ("get", "/readyz"),
        ("get", "/metrics"),
        ("get", "/openapi.json"),
        ("get", "/docs"),
    ] {
        assert!(document["paths"][path][method].is_object(), "{method} {path}");
    }
    let parameters = document["paths"]["/v1/search"]["get"]["parameters"].as_array().unwrap();
    let names: Vec<&str> = parameters.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "q",
            "k",
            "mode",
            "path",
            "heading",
            "type",
            "context",
            "expand",
            "expand_tokens",
            "rerank",
            "group",
            "budget",
            "index",
            "offsets"
        ]
    );
    let expand = parameters.iter().find(|one| one["name"] == "expand").unwrap();
    assert_eq!(
        (&expand["required"], &expand["schema"]["type"]),
        (&Value::Bool(false), &Value::from("string")),
        "{expand}"
    );
    let required = document["components"]["schemas"]["HitAnswer"]["required"].as_array().unwrap();
    assert!(!required.contains(&Value::from("chunks")));
    // They are null where there is none.
    assert!(["title", "anchor"].iter().all(|name| required.contains(&Value::from(*name))), "{required:?}");
    let hit = &document["components"]["schemas"]["HitAnswer"]["properties"];
    for name in [
        "id",
        "document",
        "start",
        "end",
        "lines",
        "heading_path",
        "text",
        "anchor",
        "type",
        "url",
        "snippet",
        "highlights",
        "chunks",
    ] {
        assert!(hit[name].is_object(), "{name}");
    }
    // Every reference leads somewhere.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}
