//! Agents that ask by the Model Context Protocol, over a pipe and over HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use pericope::Engine;
use pericope::index::pipeline::index_documents;
use pericope::read::{ReadOptions, read_text};
use pericope::store::RunSummary;
use pericope_serve::http::keys::{KeyFile, Scope};
use pericope_serve::mcp::{AgentOptions, Server, router};
use pericope_serve::service::{AddressRules, NamedPlace, Service, ServiceOptions};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::common::{self, Reply, start};
use crate::rerank::{Length, named};

type Client = RunningService<RoleClient, ()>;

const KEYS: &str = "# Keys\n\nA key opens the service.\n\n## Rotation\n\nKeys are rotated by hand.\nOld keys go.\n";

/// Indexes pages by words, each sentence a chunk (a heading goes with the next one), and opens the index as `docs`.
fn service(folder: &Path, pages: &[(&str, &str)]) -> Arc<Service> {
    let place = folder.join("docs.idx").display().to_string();
    let engine = Engine::new().with_tokenizer("words");
    let chunker = engine.chunker("sentence").unwrap();
    let spec = engine.index_spec(&chunker, None).unwrap();
    let mut store = pericope::stores::create(&place, &spec, true, 1 << 20).unwrap();
    let read = |(id, text): &(&str, &str)| Ok(read_text(id, "markdown", *text, &ReadOptions::default()).unwrap());
    let documents: Vec<_> = pages.iter().map(read).collect();
    index_documents(store.as_mut(), documents, move |document| chunker.chunks(document), |_| {}).unwrap();
    store.finish(&RunSummary::default()).unwrap();
    let mut addresses = AddressRules::default();
    addresses.add("https://docs.example.org/").unwrap();
    let options = ServiceOptions { addresses, ..ServiceOptions::default() };
    Arc::new(Service::open(vec![NamedPlace::parse(&place).unwrap()], options).unwrap())
}

/// A client over a pipe.
async fn client(service: Arc<Service>) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        if let Ok(running) = Server::new(service).serve(ours).await {
            let _ = running.waiting().await;
        }
    });
    ().serve(theirs).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().cloned().unwrap();
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
}

fn words(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|part| part.as_text()).map(|part| part.text.as_str()).collect()
}

/// The structured content of a call that must succeed, and its text.
async fn ask(client: &Client, tool: &'static str, arguments: Value) -> (Value, String) {
    let result = call(client, tool, arguments.clone()).await;
    let words = words(&result);
    assert_eq!(result.is_error, Some(false), "{tool} {arguments}: {words}");
    (result.structured_content.unwrap(), words)
}

#[tokio::test]
async fn tools_say_what_they_take_and_give() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(service(folder.path(), &[("a.md", KEYS)])).await;
    let about = client.peer_info().unwrap();
    assert_eq!(about.server_info.as_ref().unwrap().name, "pericope");
    assert!(about.instructions.as_deref().is_some_and(|said| said.contains("no instruction")));
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["search", "fetch", "read", "list", "status"]);
    for tool in &tools {
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)));
        let input = Value::Object((*tool.input_schema).clone());
        assert_eq!(input["additionalProperties"], false, "{input}");
        for (name, about) in input["properties"].as_object().unwrap() {
            assert!(about["description"].is_string(), "{} {name}: {about}", tool.name);
            assert!(about.get("format").is_none(), "{} {name}: {about}", tool.name);
        }
        let output = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
        assert_eq!(output["type"], "object", "{output}");
    }
}

#[tokio::test]
async fn agents_choose_among_the_rerankers_of_the_service() {
    let folder = tempfile::tempdir().unwrap();
    drop(service(folder.path(), &[("a.md", KEYS)]));
    let place = NamedPlace::parse(folder.path().join("docs.idx").to_str().unwrap()).unwrap();
    let rerankers = vec![named("short", &Length::new(-1.0)), named("long", &Length::new(1.0))];
    let options = ServiceOptions { rerankers, ..ServiceOptions::default() };
    let client = client(Arc::new(Service::open(vec![place], options).unwrap())).await;
    let texts = |found: &Value| -> Vec<usize> {
        found["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap().len()).collect()
    };
    let (found, _) = ask(&client, "search", json!({"query": "keys"})).await;
    assert!(found["rerank"] == "short" && texts(&found).len() > 1 && texts(&found).is_sorted(), "{found}");
    let (found, _) = ask(&client, "search", json!({"query": "keys", "rerank": "long"})).await;
    assert!(found["rerank"] == "long" && texts(&found).is_sorted_by(|a, b| a >= b), "{found}");
    let (found, _) = ask(&client, "search", json!({"query": "keys", "rerank": "none"})).await;
    assert_eq!(found.get("rerank"), None);
    let (status, said) = ask(&client, "status", json!({})).await;
    assert_eq!(status["rerankers"], json!(["short", "long"]));
    assert!(said.ends_with("rerankers: short, long\n"), "{said}");
    let refused = call(&client, "search", json!({"query": "keys", "rerank": "/etc/passwd"})).await;
    assert_eq!(refused.is_error, Some(true));
    assert!(words(&refused).contains("started with these: none, short, long"), "{}", words(&refused));
}

#[tokio::test]
async fn what_is_found_is_fetched_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let pages = [("docs/keys.md", KEYS), ("docs/z.md", "Foxes rotate."), ("notes.md", "Nothing here.")];
    let client = client(service(folder.path(), &pages)).await;
    let (found, said) = ask(&client, "search", json!({"query": "rotated", "path": "docs/"})).await;
    let hits = found["hits"].as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["document"].as_str().unwrap().starts_with("docs/")), "{found}");
    let hit = &hits[0];
    assert_eq!(hit["text"], "## Rotation\n\nKeys are rotated by hand.");
    assert_eq!((&hit["title"], &hit["document"]), (&json!("Keys"), &json!("docs/keys.md")));
    assert_eq!((&hit["lines"], &hit["heading_path"]), (&json!([5, 7]), &json!(["Keys", "Rotation"])));
    assert!(hit["url"].as_str().unwrap().starts_with("https://docs.example.org/docs/keys"), "{hit}");
    assert!(said.contains("[1] docs/keys.md:5-7\ntitle: Keys\nheadings: Keys › Rotation\n"), "{said}");
    // Within a budget the best come first.
    let budget = hits[0]["tokens"].as_u64().unwrap();
    let (few, said) = ask(&client, "search", json!({"query": "rotated", "budget": budget})).await;
    assert_eq!((few["tokens"].as_u64(), &few["hits"][0]["id"]), (Some(budget), &hits[0]["id"]));
    assert!(said.contains("did not fit `budget`)"), "{said}");
    let (none, said) = ask(&client, "search", json!({"query": "rotated", "budget": 1})).await;
    assert!(none["hits"].as_array().unwrap().is_empty() && none["left_out"]["hits"].as_u64() > Some(1), "{none}");
    assert!(said.contains("passages found for \"rotated\"") && said.contains("Ask with a larger `budget`"), "{said}");

    // The section instead of the sentence.
    let parent = json!({"query": "rotated", "expand": "parent", "expand_tokens": 40});
    let (section, _) = ask(&client, "search", parent).await;
    let text = section["hits"][0]["text"].as_str().unwrap();
    assert!(text.contains("## Rotation\n\nKeys are rotated by hand.\nOld keys go."), "{text}");
    assert_eq!(section["hits"][0]["id"], hit["id"]);

    let (alone, _) = ask(&client, "fetch", json!({"id": hit["id"], "context": 0})).await;
    assert_eq!((&alone["text"], &alone["lines"]), (&hit["text"], &hit["lines"]));
    let (around, said) = ask(&client, "fetch", json!({"id": hit["id"]})).await;
    assert!(around["text"].as_str().unwrap().ends_with("Keys are rotated by hand.\nOld keys go."), "{around}");
    assert_eq!(around["lines"], json!([1, 8]), "{around}");
    assert!(said.contains(&format!("next passage: {}", around["next"].as_str().unwrap())), "{said}");
    let (whole, _) = ask(&client, "fetch", json!({"id": "docs/keys.md"})).await;
    assert_eq!((&whole["start"], &whole["id"]), (&json!(0), &json!("docs/keys.md")));
    assert!(whole["text"].as_str().unwrap().contains("A key opens the service."));

    let (lines, _) = ask(&client, "read", json!({"document": "docs/keys.md", "lines": "7"})).await;
    assert_eq!(lines["text"].as_str().unwrap().trim_end(), "Keys are rotated by hand.");
    let wider = json!({"document": "docs/keys.md", "lines": "7-7", "context": 4});
    let (wider, _) = ask(&client, "read", wider).await;
    assert_eq!(wider["lines"], json!([3, 8]), "{wider}");
    let bytes = json!({"document": "docs/keys.md", "start": hit["start"], "end": hit["end"]});
    let (bytes, _) = ask(&client, "read", bytes).await;
    assert_eq!(bytes["text"], hit["text"]);

    let (first, said) = ask(&client, "list", json!({"prefix": "docs/", "limit": 1})).await;
    assert_eq!((&first["documents"][0]["id"], &first["next"]), (&json!("docs/keys.md"), &json!("docs/keys.md")));
    assert!(said.contains("docs/keys.md — Keys (") && said.contains("More: list with after"), "{said}");
    let (last, _) = ask(&client, "list", json!({"prefix": "docs/", "after": first["next"]})).await;
    assert_eq!((&last["documents"][0]["id"], last.get("next")), (&json!("docs/z.md"), None));
    let (status, said) = ask(&client, "status", json!({})).await;
    let index = &status["indexes"][0];
    assert_eq!((&index["name"], &index["documents"]), (&json!("docs"), &json!(3)));
    assert!(index["age_seconds"].as_u64().is_some_and(|age| age < 600), "{index}");
    assert!(said.starts_with("docs: 3 documents, "), "{said}");
}

#[tokio::test]
async fn long_texts_are_cut_at_a_line_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let long: String = (0..2000).map(|i| format!("Line {i} of äöü.\n\n")).collect();
    let client = client(service(folder.path(), &[("long.md", &long)])).await;
    let (mut read, mut from, mut parts) = (String::new(), 0, 0);
    loop {
        let (part, said) = ask(&client, "read", json!({"document": "long.md", "start": from})).await;
        let text = part["text"].as_str().unwrap();
        assert!(text.len() <= 32_000 && part["start"] == from, "{}", part["start"]);
        read.push_str(text);
        parts += 1;
        match part.get("more_from") {
            Some(more) => {
                assert!(said.contains(&format!("start {more} goes on")) && text.ends_with('\n'));
                from = usize::try_from(more.as_u64().unwrap()).unwrap();
            }
            None => break,
        }
    }
    assert_eq!((read.trim_end(), parts), (long.trim_end(), 2));
}

#[tokio::test]
async fn what_is_wrong_is_said_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(service(folder.path(), &[("a.md", KEYS)])).await;
    for (tool, arguments, says) in [
        ("search", json!({}), "missing field `query`"),
        ("search", json!({"query": " "}), "the query is empty"),
        ("search", json!({"query": "x".repeat(20_000)}), "query"),
        ("search", json!({"query": "x", "k": 0}), "`k`"),
        ("search", json!({"query": "x", "k": "many"}), "k: invalid type"),
        ("search", json!({"query": "x", "limit": 3}), "unknown field `limit`"),
        ("search", json!({"query": "x", "path": 7}), "path: a text or a list of texts"),
        ("search", json!({"query": "x", "mode": "best"}), "mode: unknown variant `best`"),
        ("search", json!({"query": "x", "mode": "dense"}), "bm25"),
        ("search", json!({"query": "x", "index": "nowhere"}), "the indexes are docs"),
        ("fetch", json!({"id": "0f0c1c5e-8f0e-4a86-9f8e-0d3b5a6f7c11"}), "no passage and no document"),
        ("fetch", json!({"id": "../../etc/passwd"}), "no passage and no document"),
        ("fetch", json!({"id": "a.md", "index": "nowhere"}), "the indexes are docs"),
        ("read", json!({"document": "nowhere.md"}), "nowhere.md"),
        ("read", json!({"document": "a.md", "lines": "9-3"}), "lines"),
        ("read", json!({"document": "a.md", "lines": "1", "start": 2}), "not both"),
        ("read", json!({"document": "a.md", "context": 1_000}), "context: at most 200"),
        ("list", json!({"limit": 100_000}), "limit"),
        ("status", json!({"index": "nowhere"}), "the indexes are docs"),
    ] {
        let result = call(&client, tool, arguments.clone()).await;
        let said = words(&result);
        assert_eq!((result.is_error, result.structured_content), (Some(true), None), "{tool} {arguments}");
        assert!(said.contains(says) && said.lines().count() == 1, "{tool} {arguments}: {said}");
    }
    let refused = client.call_tool(CallToolRequestParams::new("remove")).await;
    assert!(
        matches!(&refused, Err(ServiceError::McpError(error)) if error.message.contains("search, fetch")),
        "{refused:?}"
    );
    ask(&client, "search", json!({"query": "keys", "path": null, "heading": ["Rotation"]})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_agents_ask_one_index_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path(), &dens().each_ref().map(|(id, text)| (id.as_str(), text.as_str())));
    let mut agents = tokio::task::JoinSet::new();
    for agent in 0..10 {
        let service = Arc::clone(&service);
        agents.spawn(async move {
            let client = client(service).await;
            for round in 0..10 {
                let den = (agent * 7 + round) % 50;
                let (found, _) = ask(&client, "search", json!({"query": format!("\"den {den}\""), "k": 1})).await;
                assert_eq!(found["hits"][0]["document"], format!("{den:02}.md"));
            }
            client.cancel().await.unwrap();
        });
    }
    assert_eq!(agents.join_all().await.len(), 10);
}

/// Fifty pages, each of a den of its own.
fn dens() -> [(String, String); 50] {
    std::array::from_fn(|i| (format!("{i:02}.md"), format!("# Page {i}\n\nFoxes dig den {i}.\n")))
}

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ANY: (&str, &str) = ("Accept", "application/json, text/event-stream");

/// An agent that speaks streamable HTTP, one connection a message.
struct Agent<'a> {
    address: SocketAddr,
    headers: Vec<(&'a str, &'a str)>,
    session: String,
}

fn hello() -> Value {
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

impl<'a> Agent<'a> {
    fn connect(address: SocketAddr, headers: &[(&'a str, &'a str)]) -> Result<Self, Reply> {
        let mut agent = Self { address, headers: [&[JSON, ANY], headers].concat(), session: String::new() };
        let reply = agent.post(&hello());
        if reply.status != 200 {
            return Err(reply);
        }
        assert_eq!(message(&reply)["result"]["serverInfo"]["name"], "pericope");
        agent.session = reply.header("mcp-session-id").unwrap().to_owned();
        assert_eq!(agent.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).status, 202);
        Ok(agent)
    }

    fn post(&self, message: &Value) -> Reply {
        let mut headers = self.headers.clone();
        if !self.session.is_empty() {
            headers.push(("Mcp-Session-Id", &self.session));
        }
        common::ask(self.address, "POST", "/mcp", &headers, message.to_string().as_bytes())
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        message(&self.post(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})))
    }
}

/// The message in an answer: the last event of its stream that has data.
fn message(reply: &Reply) -> Value {
    let text = reply.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).rfind(|data| data.starts_with('{'));
    serde_json::from_str(data.unwrap_or_else(|| panic!("{text}"))).unwrap()
}

#[test]
fn agents_ask_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path(), &dens().each_ref().map(|(id, text)| (id.as_str(), text.as_str())));
    let agents = AgentOptions { origins: vec!["https://known.example".to_owned()], ..AgentOptions::default() };
    let routes = router(Arc::clone(&service), agents.clone());
    let server = start(folder, service, |options| (options.more, options.ending) = (Some(routes), agents.ending));
    let address = server.address;
    std::thread::scope(|threads| {
        for agent in 0..10 {
            threads.spawn(move || {
                let client = Agent::connect(address, &[]).unwrap();
                for round in 0..5 {
                    let den = (agent * 7 + round) % 50;
                    let answer = client.call("search", &json!({"query": format!("\"den {den}\""), "k": 1}));
                    let hit = &answer["result"]["structuredContent"]["hits"][0];
                    assert_eq!(hit["document"], format!("{den:02}.md"), "{answer}");
                }
                let wrong = client.call("search", &json!({"q": "dens"}));
                assert_eq!(wrong["result"]["isError"], true, "{wrong}");
            });
        }
    });
    // Pages of others, other names, and what is too large.
    let status = |headers: &[(&str, &str)]| Agent::connect(address, headers).map_or_else(|reply| reply.status, |_| 200);
    assert_eq!(status(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(status(&[("Origin", "https://known.example:8443")]), 403, "another port is another origin");
    assert_eq!(status(&[("Origin", "https://known.example")]), 200);
    assert_eq!(status(&[("Origin", "http://localhost:5173")]), 200);
    assert_eq!(status(&[("Host", "evil.example")]), 421);
    let large = [b"{\"jsonrpc\": \"2.0\", \"x\": \"".as_slice(), &[b'x'; 2 << 20], b"\"}"].concat();
    assert_eq!(common::ask(address, "POST", "/mcp", &[JSON, ANY], &large).status, 413);
    let reply = common::ask(address, "POST", "/mcp", &[JSON, ANY], b"{");
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32700)));
    // Whatever is refused, the answer is one that clients of the protocol read.
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let batch = format!("[{ping}]");
    for (method, headers, body, status) in [
        ("POST", &[JSON][..], ping.as_bytes(), 406),
        ("POST", &[ANY][..], ping.as_bytes(), 415),
        ("POST", &[JSON, ANY][..], ping.as_bytes(), 400),
        ("POST", &[JSON, ANY][..], &b""[..], 415),
        ("POST", &[JSON, ANY][..], batch.as_bytes(), 400),
        ("POST", &[JSON, ANY][..], large.as_slice(), 413),
        ("POST", &[JSON, ANY, ("Mcp-Session-Id", "none")][..], ping.as_bytes(), 404),
        ("POST", &[JSON, ANY, ("Origin", "https://evil.example")][..], ping.as_bytes(), 403),
        ("GET", &[ANY][..], &b""[..], 400),
        ("PUT", &[ANY][..], &b""[..], 405),
    ] {
        let reply = common::ask(address, method, "/mcp", headers, body);
        let (kind, json) = (reply.header("content-type"), reply.json());
        assert_eq!((reply.status, kind), (status, Some("application/json")), "{method} {headers:?}: {json}");
        assert_eq!((&json["error"]["code"], json.get("id")), (&json!(-32600), Some(&Value::Null)), "{json}");
        assert!(json["error"]["message"].as_str().is_some_and(|said| !said.is_empty()), "{json}");
    }
}

#[test]
fn a_stream_that_an_agent_keeps_open_ends_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path(), &[("a.md", KEYS)]);
    let agents = AgentOptions::default();
    let routes = router(Arc::clone(&service), agents.clone());
    let notices = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&notices);
    let server = start(folder, service, |options| {
        (options.more, options.ending) = (Some(routes), agents.ending);
        options.log.notice = Arc::new(move |text| heard.lock().unwrap().push_str(text));
    });
    let agent = Agent::connect(server.address, &[]).unwrap();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let (address, session) = (server.address, agent.session);
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    )
    .unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    server.end().unwrap();
    assert_eq!(*notices.lock().unwrap(), "", "nothing was given up");
}

#[test]
fn keys_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let mut file = KeyFile::read_or_new(&path).unwrap();
    let key = file.add("agents", Scope::Search).unwrap();
    file.write(&path).unwrap();
    let service = service(folder.path(), &[("a.md", KEYS)]);
    let routes = router(Arc::clone(&service), AgentOptions::default());
    let server = start(folder, service, |options| (options.more, options.keys) = (Some(routes), Some(path)));
    let address = server.address;
    let refused = |headers: &[(&str, &str)]| Agent::connect(address, headers).err().map(|reply| reply.status);
    assert_eq!(refused(&[]), Some(401));
    assert_eq!(refused(&[("Authorization", "Bearer wrong")]), Some(401));
    let bearer = format!("Bearer {key}");
    let agent = Agent::connect(address, &[("Authorization", &bearer)]).unwrap();
    assert_eq!(agent.call("list", &json!({}))["result"]["isError"], false);
    let session = agent.session.clone();
    let end = |headers: &[(&str, &str)]| common::ask(address, "DELETE", "/mcp", headers, b"").status;
    assert_eq!(end(&[("Mcp-Session-Id", &session)]), 401);
    // A session is nobody's without the key.
    let thief = Agent { headers: vec![JSON, ANY], ..agent };
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    assert_eq!(thief.post(&list).status, 401);
    assert_eq!(end(&[("Mcp-Session-Id", &session), ("Authorization", &bearer)]), 204);
    let owner = Agent { headers: vec![JSON, ANY, ("Authorization", &bearer)], ..thief };
    assert_eq!(owner.post(&list).status, 404, "the session is over");
}
