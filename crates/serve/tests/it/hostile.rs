//! What strangers send: paths that lead out, headers that break lines, names of other hosts, HTML everywhere.

use std::sync::{Arc, Mutex};

use pericope_serve::http::LogFormat;
use serde_json::{Value, json};

use crate::common::{ask, get, post, read_reply, send_raw, serve};

#[test]
fn no_path_leads_out() {
    let server = serve(|_| ()).ready();
    for path in [
        "/v1/documents/../../../etc/passwd",
        "/v1/documents/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/documents/%2fetc%2fpasswd",
        "/v1/documents//etc/passwd",
        "/v1/documents/guide/../../../../etc/passwd",
        "/v1/documents/%00",
        "/v1/documents/pericope.json",
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets//etc/passwd",
        "/docs/../../etc/passwd",
    ] {
        let reply = get(server.address, path);
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        assert!(!reply.text().contains("root:"), "{path}");
    }
    assert_eq!(get(server.address, "/v1/chunks/..%2f..%2fetc%2fpasswd").code(), "bad-parameter");
    assert_eq!(get(server.address, "/v1/documents/%ff").code(), "bad-parameter");
    assert_eq!(post(server.address, "/v1/indexes/..%2f..%2fetc/refresh", &json!({})).code(), "no-such-index");
    assert_eq!(get(server.address, "/v1/search?q=a&index=../../etc").code(), "no-such-index");
}

#[test]
fn headers_stay_on_their_lines() {
    let server = serve(|_| ()).ready();
    let with_id = |id: &str| get_with(server.address, "X-Request-Id", id);
    assert_eq!(with_id("trace-1").header("x-request-id"), Some("trace-1"));
    for id in ["a b", "x\"y", "%0d%0aSet-Cookie:%20a=b", &"a".repeat(65)] {
        let reply = with_id(id);
        let made = reply.header("x-request-id").unwrap();
        assert!(made.len() == 24 && reply.header("set-cookie").is_none(), "{made}");
    }
    // A bare carriage return or line feed in a header is no HTTP.
    for bytes in ["X-Request-Id: a\rSet-Cookie: b", "X-Request-Id: a\0b"] {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{bytes}\r\nConnection: close\r\n\r\n");
        let reply = read_reply(send_raw(server.address, request.as_bytes()));
        assert!(reply.status == 400 && reply.header("set-cookie").is_none(), "{reply:?}");
    }
    // Nor does a line break in a query get into a header.
    let reply = get(server.address, "/v1/search?q=moon%0d%0aSet-Cookie:%20a=b&mode=bm25");
    assert!(reply.status == 200 && reply.header("set-cookie").is_none());
    let wrong = get(server.address, "/v1/search?q=a&index=x%0d%0aSet-Cookie:%20a=b");
    assert!(wrong.status == 404 && wrong.header("set-cookie").is_none());
}

fn get_with(address: std::net::SocketAddr, name: &str, value: &str) -> crate::common::Reply {
    ask(address, "GET", "/healthz", &[(name, value)], b"")
}

#[test]
fn other_names_do_not_lead_here() {
    let server = serve(|options| options.hosts = vec!["docs.example.org".into()]);
    for good in ["localhost", "127.0.0.1:7700", "[::1]:80", "docs.example.org"] {
        assert_eq!(get_with(server.address, "Host", good).status, 200, "{good}");
    }
    for bad in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "192.168.0.1"] {
        let reply = get_with(server.address, "Host", bad);
        assert_eq!((reply.status, reply.code().as_str()), (421, "wrong-host"), "{bad}");
    }
}

#[test]
fn pages_of_other_sites_read_and_order_nothing() {
    // As a browser writes it, or as people do.
    let server = serve(|options| options.cors = vec!["https://Example.org:443".into()]).ready();
    let from = |origin: &str| ask(server.address, "GET", "/v1/segmenters", &[("Origin", origin)], b"");
    assert_eq!(from("https://example.org").header("access-control-allow-origin"), Some("https://example.org"));
    assert_eq!(from("https://evil.example").header("access-control-allow-origin"), None);
    let asked = [
        ("Origin", "https://example.org"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
    ];
    let leave = ask(server.address, "OPTIONS", "/v1/segment", &asked, b"");
    assert_eq!((leave.status, leave.header("access-control-allow-origin")), (200, Some("https://example.org")));
    assert!(leave.header("access-control-allow-headers").unwrap().contains("authorization"));
    // What agents in a page say of their sessions.
    assert!(leave.header("access-control-allow-headers").unwrap().contains("mcp-session-id"));
    assert!(leave.header("access-control-allow-methods").unwrap().contains("DELETE"));
    let exposed = from("https://example.org").header("access-control-expose-headers").unwrap().to_owned();
    assert!(exposed.contains("mcp-session-id"), "{exposed}");
    let order = |origin: &[(&str, &str)]| ask(server.address, "POST", "/v1/indexes/docs/refresh", origin, b"");
    assert_eq!(order(&[]).status, 200);
    assert_eq!(order(&[("Origin", "http://localhost")]).status, 200);
    assert_eq!(order(&[("Origin", "https://example.org")]).status, 200);
    assert_eq!(order(&[("Origin", "https://evil.example")]).code(), "foreign-origin");
    assert_eq!(order(&[("Origin", "null")]).code(), "foreign-origin");
    let problem = ask(server.address, "GET", "/v1/search", &[("Origin", "https://example.org")], b"");
    assert_eq!(problem.header("access-control-allow-origin"), Some("https://example.org"));
    assert_eq!(problem.code(), "bad-parameter");
}

#[test]
fn html_is_text() {
    let server = serve(|_| ()).ready();
    let reply = get(server.address, "/v1/search?q=%3Cscript%3E+poisoned+moon&mode=bm25");
    // A browser that is shown the answer itself runs nothing of it.
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    let hit = reply.json()["hits"][0].clone();
    assert_eq!(hit["document"], "hostile/a\"><script>alert(1)<.md");
    assert_eq!(hit["url"], "https://example.org/docs/hostile/a%22%3E%3Cscript%3Ealert(1)%3C#alerttitle");
    let problem = get(server.address, "/v1/search?q=a&index=%3Cscript%3E");
    assert_eq!(problem.header("content-type"), Some("application/problem+json"));
    let id = "hostile%2Fa%22%3E%3Cscript%3Ealert(1)%3C.md";
    let document = get(server.address, &format!("/v1/documents/{id}")).json();
    assert!(document["text"].as_str().unwrap().contains("<img src=x onerror"));
    let pre = "%3Cscript%3E";
    let widget = get(
        server.address,
        &format!("/v1/docsearch?query=poisoned&mode=bm25&highlightPreTag={pre}&highlightPostTag=x"),
    )
    .json();
    let strings = strings(&widget["hits"][0]["_highlightResult"]);
    assert!(strings.iter().any(|text| text.contains("<em>poisoned</em>")), "{strings:?}");
    for text in strings {
        assert!(!text.replace("<em>", "").replace("</em>", "").contains(['<', '>', '"']), "{text}");
    }
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        Value::Object(map) => map.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn logs_hold_a_line_a_request_and_no_secret() {
    for format in [LogFormat::Json, LogFormat::Text] {
        let lines = Arc::new(Mutex::new(Vec::<String>::new()));
        let sink = Arc::clone(&lines);
        let server = serve(|options| {
            options.log.format = format;
            options.log.sink = Arc::new(move |line| sink.lock().unwrap().push(line.to_owned()));
        });
        let path = "/v1/documents/%0A%1b%5b31m?index=secret-query";
        ask(server.address, "GET", path, &[("X-Request-Id", "trace-1"), ("Authorization", "Bearer secret-key")], b"");
        let lines = lines.lock().unwrap().clone();
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line = &lines[0];
        assert!(
            line.contains("trace-1")
                && line.contains("404")
                && !line.contains("secret")
                && !line.contains(['\n', '\u{1b}']),
            "{line}"
        );
        if format == LogFormat::Json {
            let json: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&json["method"], &json["status"], &json["code"]),
                (&json!("GET"), &json!(404), &json!("no-such-index"))
            );
            assert!(json["ms"].is_number() && json["time"].as_str().unwrap().ends_with('Z'));
            assert!(json["remote"].as_str().unwrap().starts_with("127.0.0.1:"));
        }
    }
}

#[test]
fn what_a_body_asks_is_logged_where_that_is_wanted_and_no_key() {
    let lines = Arc::new(Mutex::new(Vec::<String>::new()));
    let sink = Arc::clone(&lines);
    let server = serve(|options| {
        (options.log.format, options.log.queries) = (LogFormat::Json, true);
        options.log.sink = Arc::new(move |line| sink.lock().unwrap().push(line.to_owned()));
    });
    let json = [("Content-Type", "application/json")];
    let body = br#"{"requests": [{"indexName": "docs", "params": "query=moon"}]}"#;
    ask(server.address, "POST", "/v1/docsearch?x-algolia-api-key=secret", &json, body);
    ask(server.address, "GET", "/v1/docsearch?query=moon&x-algolia-api-key=secret", &[], b"");
    ask(server.address, "POST", "/v1/segment", &json, br#"{"text": "The moon is a text."}"#);
    let lines = lines.lock().unwrap().clone();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines.iter().take(2).all(|line| line.contains("moon")), "{lines:?}");
    assert!(!lines[2].contains("moon") && lines.iter().all(|line| !line.contains("secret")), "{lines:?}");
}
