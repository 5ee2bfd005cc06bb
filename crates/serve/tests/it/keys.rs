//! Keys and their scopes, and addresses that other machines reach.

use std::path::Path;
use std::sync::Arc;

use pericope_serve::http::keys::{KeyFile, Scope};
use pericope_serve::http::{HttpOptions, ServeError, Server, TlsFiles};
use serde_json::json;

use crate::common::{ask, get, make_index, metric_with, rules, serve, service_over, until};

fn key(path: &Path, name: &str, scope: Scope) -> String {
    let mut file = KeyFile::read_or_new(path).unwrap();
    let key = file.add(name, scope).unwrap();
    file.write(path).unwrap();
    key
}

#[test]
fn a_key_opens_what_its_scope_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let (search, admin) = (key(&path, "site", Scope::Search), key(&path, "ops", Scope::Admin));
    let server = serve(|options| options.keys = Some(path));
    let with =
        |method: &str, path: &str, value: &str| ask(server.address, method, path, &[("Authorization", value)], b"");
    let bearer = |key: &str| format!("Bearer {key}");
    for path in [
        "/v1/search?q=moon&mode=bm25",
        "/v1/documents",
        "/v1/documents/guide/tides.md",
        "/v1/indexes",
        "/v1/segmenters",
        "/v1/docsearch?query=moon",
    ] {
        let without = get(server.address, path);
        assert_eq!((without.status, without.code().as_str()), (401, "no-key"), "{path}");
        assert_eq!(without.header("www-authenticate"), Some("Bearer realm=\"pericope\""));
        let mut other = search.clone();
        other.pop();
        other.push(if search.ends_with('A') { 'B' } else { 'A' });
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer x",
            &bearer(&other),
            &search,
            &format!("Basic {search}"),
            &bearer(&format!("{search}A")),
        ] {
            assert_eq!(with("GET", path, wrong).status, 401, "{path} {wrong}");
        }
        assert_eq!(with("GET", path, &bearer(&search)).status, 200, "{path}");
        assert_eq!(with("GET", path, &bearer(&admin)).status, 200, "{path}");
        assert_eq!(with("GET", path, &format!("bearer {search}")).status, 200, "{path}");
    }
    for (method, path) in [("POST", "/v1/indexes/docs/refresh"), ("GET", "/metrics")] {
        assert_eq!(ask(server.address, method, path, &[], b"").status, 401);
        let refused = with(method, path, &bearer(&search));
        assert_eq!((refused.status, refused.code().as_str()), (403, "wrong-scope"));
        assert!(!refused.text().contains(&search));
        assert_eq!(with(method, path, &bearer(&admin)).status, 200, "{path}");
    }
    for path in ["/healthz", "/openapi.json", "/docs"] {
        assert_eq!(get(server.address, path).status, 200, "{path}");
    }
    assert!(metric_with(server.address, "pericope_rejected_total{reason=\"key\"}", &bearer(&admin)) > Some(0.0));
}

#[test]
fn widgets_bring_their_key_in_their_own_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let search = key(&path, "site", Scope::Search);
    let server = serve(|options| options.keys = Some(path));
    let body = json!({ "requests": [{ "indexName": "docs", "query": "moon" }] }).to_string();
    let post =
        |path: &str, headers: &[(&str, &str)]| ask(server.address, "POST", path, headers, body.as_bytes()).status;
    assert_eq!(post("/1/indexes/*/queries", &[]), 401);
    assert_eq!(post("/1/indexes/*/queries", &[("X-Algolia-API-Key", &search)]), 200);
    assert_eq!(post(&format!("/1/indexes/*/queries?x-algolia-api-key={search}"), &[]), 200);
    assert_eq!(post("/v1/docsearch", &[("X-Algolia-API-Key", &search)]), 200);
    // Nowhere else: addresses end up in logs.
    assert_eq!(get(server.address, &format!("/v1/search?q=moon&x-algolia-api-key={search}")).status, 401);
}

#[test]
fn the_file_is_read_again_where_it_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let first = key(&path, "first", Scope::Search);
    let kept = path.clone();
    let server = serve(|options| options.keys = Some(kept));
    let status = |key: &str| {
        ask(server.address, "GET", "/v1/segmenters", &[("Authorization", &format!("Bearer {key}"))], b"").status
    };
    assert_eq!(status(&first), 200);
    let second = key(&path, "second", Scope::Search);
    until(|| status(&second) == 200);
    let mut file = KeyFile::read(&path).unwrap();
    assert!(file.remove("first"));
    file.write(&path).unwrap();
    until(|| status(&first) == 401);
    assert_eq!(status(&second), 200);
    // A file that is gone allows nothing.
    std::fs::remove_file(&path).unwrap();
    until(|| status(&second) == 401);
}

#[test]
fn other_machines_are_let_in_by_keys_and_tls_alone() {
    let folder = make_index();
    let service = Arc::new(service_over(folder.path(), rules(), None));
    let keys = folder.path().join("keys");
    key(&keys, "site", Scope::Search);
    let bind = |change: &dyn Fn(&mut HttpOptions)| {
        let mut options = HttpOptions::new("0.0.0.0:0".parse().unwrap());
        change(&mut options);
        match Server::bind(Arc::clone(&service), options) {
            Ok(_) => String::new(),
            Err(ServeError::Usage(reason)) => reason,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(bind(&|_| ()).contains("--keys FILE"));
    assert!(bind(&|options| options.keys = Some(keys.clone())).contains("--tls-cert"));
    assert!(bind(&|options| options.insecure_no_tls = true).contains("--keys FILE"));
    assert_eq!(bind(&|options| (options.insecure_no_keys, options.insecure_no_tls) = (true, true)), "");
    assert_eq!(bind(&|options| (options.keys, options.insecure_no_tls) = (Some(keys.clone()), true)), "");
    let nothing = folder.path().join("nothing");
    assert!(
        bind(&|options| (options.keys, options.insecure_no_tls) = (Some(nothing.clone()), true)).contains("nothing")
    );
    let tls = TlsFiles { certificate: keys.clone(), key: keys.clone() };
    assert!(
        bind(&|options| (options.keys, options.tls) = (Some(keys.clone()), Some(tls.clone())))
            .contains("no certificate")
    );
    assert!(
        bind(&|options| {
            (options.insecure_no_keys, options.insecure_no_tls) = (true, true);
            options.cors = vec!["example.org".into()];
        })
        .contains("no origin")
    );
}
