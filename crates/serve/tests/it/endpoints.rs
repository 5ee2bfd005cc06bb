//! Every endpoint, and every filter, over HTTP.

use serde_json::{Value, json};

use crate::common::{get, metric, post, serve};

fn documents(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["document"].as_str().unwrap()).collect()
}

#[test]
fn a_search_has_hits_with_places() {
    let server = serve(|_| ()).ready();
    let reply = get(server.address, "/v1/search?q=spring+tides&mode=bm25&k=2");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let answer = reply.json();
    assert_eq!(
        (&answer["query"], &answer["mode"], &answer["index"]),
        (&json!("spring tides"), &json!("bm25"), &json!("docs"))
    );
    let hit = &answer["hits"][0];
    assert_eq!(hit["document"], "guide/tides.md");
    assert_eq!(hit["rank"], 1);
    assert_eq!(hit["url"], "https://example.org/docs/guide/tides#spring-tides");
    assert_eq!(hit["heading_path"], json!(["Tides", "Spring tides"]));
    assert_eq!(hit["lines"], json!([5, 7]));
    let (text, marks) = (hit["text"].as_str().unwrap(), hit["highlights"].as_array().unwrap());
    let words: Vec<&str> = marks
        .iter()
        .map(|mark| &text[mark[0].as_u64().unwrap() as usize..mark[1].as_u64().unwrap() as usize])
        .collect();
    assert_eq!(words, ["Spring", "tides", "Spring", "tides"]);
    assert!(hit["id"].as_str().unwrap().len() == 36 && hit["tokens"].as_u64() > Some(0) && hit["type"] == "md");
    assert!(answer["took_ms"].as_f64() >= Some(0.0) && answer["tokens"].as_u64() > Some(0));
    assert!(answer.get("groups").is_none());
}

#[test]
fn filters_modes_context_groups_and_budgets() {
    let server = serve(|_| ()).ready();
    let search = |query: &str| {
        let reply = get(server.address, &format!("/v1/search?q=moon+token&{query}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    };
    assert!(documents(&search("mode=bm25")).len() >= 4);
    assert_eq!(search("")["mode"], "hybrid");
    assert_eq!(documents(&search("mode=dense&k=3")).len(), 3);
    let all = |answer: &Value, good: fn(&str) -> bool| {
        !documents(answer).is_empty() && documents(answer).iter().all(|d| good(d))
    };
    assert!(all(&search("path=guide/"), |d| d.starts_with("guide/")));
    assert!(all(&search("path=guide/&path=api/"), |d| d.starts_with("guide/") || d.starts_with("api/")));
    assert!(all(&search("type=html"), |d| d.ends_with(".html")));
    // As the command's own JSON has it: null, and not left out.
    let plain = &search("type=txt&mode=dense")["hits"][0];
    assert_eq!((plain.get("title"), plain.get("anchor")), (Some(&Value::Null), Some(&Value::Null)), "{plain}");
    assert!(all(&search("type=html&type=txt"), |d| d.ends_with(".html") || d.ends_with(".txt")));
    assert!(all(&search("heading=neap"), |d| d == "guide/tides.md"));
    assert!(documents(&search("heading=nobody")).is_empty());
    let with = search("mode=bm25&heading=spring&context=1");
    let context = &with["hits"][0]["context"];
    assert!(
        context["text"].as_str().unwrap().contains("pulls the sea")
            && context["start"].as_u64() < with["hits"][0]["start"].as_u64()
    );
    let grouped = search("mode=bm25&group=true");
    let groups = grouped["groups"].as_array().unwrap();
    assert!(groups.iter().any(|g| g["document"] == "guide/tides.md"
        && g["title"] == "Tides"
        && g["hits"].as_array().unwrap().len() > 1));
    let free = search("mode=bm25")["tokens"].as_u64().unwrap();
    let bound = search(&format!("mode=bm25&budget={}", free / 2));
    assert!(bound["tokens"].as_u64().unwrap() <= free / 2 && !documents(&bound).is_empty());
    let none = search("mode=bm25&budget=0");
    assert!(documents(&none).is_empty());
    // What does not fit is not passed over in silence.
    let all = search("mode=bm25");
    let tokens = all["hits"].as_array().unwrap().iter().map(|hit| hit["tokens"].as_u64().unwrap());
    assert_eq!(none["left_out"], json!({"hits": documents(&all).len(), "least_tokens": tokens.min().unwrap()}));
    assert!(all.get("left_out").is_none());
    assert_eq!(documents(&search("index=docs&k=1")).len(), 1);
}

#[test]
fn a_hit_may_be_expanded() {
    let server = serve(|_| ()).ready();
    let search = |query: &str| {
        let reply = get(server.address, &format!("/v1/search?q=smallest&mode=bm25&{query}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    };
    let (plain, parent) = (search("")["hits"][0].clone(), search("expand=parent")["hits"][0].clone());
    assert!(plain.get("chunks").is_none());
    assert!(parent["text"].as_str().unwrap().starts_with("# Tides\n\nThe moon"), "{parent}");
    assert_eq!((&parent["id"], &parent["score"], &parent["lines"]), (&plain["id"], &plain["score"], &json!([1, 11])));
    let chunks = parent["chunks"].as_array().unwrap();
    assert!(chunks.len() == 3 && chunks.contains(&plain["id"]), "{parent}");
    assert_eq!(search("expand=parent&expand_tokens=20")["hits"][0]["text"], plain["text"]);
    assert_eq!(search("expand=neighbours:1")["hits"][0]["chunks"].as_array().unwrap().len(), 2);
    assert_eq!(search("expand=none")["hits"][0], plain);
    // What is expanded counts for the budget, and groups hold it.
    let tokens = parent["tokens"].as_u64().unwrap();
    // A parent that does not fit the budget is no reason to lose what was found.
    let smaller = search(&format!("expand=parent&budget={}", tokens - 1));
    assert_eq!(smaller["hits"][0]["id"], plain["id"]);
    assert!(smaller["tokens"].as_u64().unwrap() < tokens, "{smaller}");
    assert_eq!(search(&format!("expand=parent&budget={tokens}"))["tokens"], tokens);
    assert_eq!(search("expand=parent&group=true")["groups"][0]["hits"][0]["chunks"], parent["chunks"]);
    for (wrong, says) in [
        ("expand=parents", "none, parent, merge"),
        ("expand=parent&context=1", "exclude each other"),
        ("expand=parent&expand_tokens=0", "1 to 100000"),
    ] {
        let reply = get(server.address, &format!("/v1/search?q=moon&{wrong}"));
        assert!(reply.status == 400 && reply.text().contains(says), "{wrong}: {}", reply.text());
    }
}

#[test]
fn offsets_count_bytes_or_characters() {
    let server = serve(|_| ()).ready();
    let of = |offsets: &str| {
        get(server.address, &format!("/v1/search?q=Ebbe&mode=bm25&context=1{offsets}")).json()["hits"][0].clone()
    };
    let (bytes, chars) = (of(""), of("&offsets=chars"));
    let text = chars["text"].as_str().unwrap();
    let cut = |mark: &Value, text: &str| -> String {
        let (from, to) = (mark[0].as_u64().unwrap() as usize, mark[1].as_u64().unwrap() as usize);
        text.chars().skip(from).take(to - from).collect()
    };
    assert_eq!(cut(&chars["highlights"][0], text), "Ebbe");
    assert_eq!(bytes["end"].as_u64().unwrap() - bytes["start"].as_u64().unwrap(), text.len() as u64);
    assert_eq!(chars["end"].as_u64().unwrap() - chars["start"].as_u64().unwrap(), text.chars().count() as u64);
    let context = &chars["context"];
    assert_eq!(
        context["end"].as_u64().unwrap() - context["start"].as_u64().unwrap(),
        context["text"].as_str().unwrap().chars().count() as u64
    );
}

#[test]
fn documents_are_listed_and_read() {
    let server = serve(|_| ()).ready();
    let list = |query: &str| get(server.address, &format!("/v1/documents?{query}")).json();
    let first = list("limit=2");
    let ids = |answer: &Value| {
        answer["documents"].as_array().unwrap().iter().map(|d| d["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ["api/errors.html", "guide/bread.md"]);
    assert_eq!(first["next"], "guide/bread.md");
    let rest = list("limit=100&after=guide/bread.md");
    assert_eq!(ids(&rest).len(), 3);
    assert!(rest.get("next").is_none());
    assert_eq!(ids(&list("prefix=guide/")), ["guide/bread.md", "guide/tides.md"]);
    assert_eq!(list("prefix=guide/t")["documents"][0]["title"], "Tides");
    let whole = get(server.address, "/v1/documents/guide/tides.md").json();
    assert!(whole["text"].as_str().unwrap().starts_with("# Tides\n\nThe moon"));
    assert_eq!((&whole["title"], &whole["type"]), (&json!("Tides"), &json!("md")));
    assert_eq!(whole["chunks"].as_array().unwrap().len(), 3);
    assert_eq!(whole["lines"], json!([1, 11]));
    assert_eq!(whole["url"], "https://example.org/docs/guide/tides");
    // An encoded slash is a slash.
    assert_eq!(get(server.address, "/v1/documents/guide%2Ftides.md").json(), whole);
    let lines = get(server.address, "/v1/documents/guide/tides.md?lines=5-7").json();
    assert_eq!(lines["text"], "## Spring tides\n\nSpring tides come with the full moon.");
    assert_eq!(lines["lines"], json!([5, 7]));
    let range = get(server.address, "/v1/documents/guide/tides.md?start=2&end=7").json();
    assert_eq!((&range["text"], &range["start"], &range["end"]), (&json!("Tides"), &json!(2), &json!(7)));
    // The second byte of a letter of two: the range is widened to whole letters.
    let umlaut = get(server.address, "/v1/documents/notes/%C3%BCmlaut.txt?start=1&end=4").json();
    assert_eq!((&umlaut["text"], &umlaut["start"]), (&json!("Übe"), &json!(0)));
    let second = get(server.address, "/v1/documents/notes/%C3%BCmlaut.txt?lines=2").json();
    assert!(second["text"].as_str().unwrap().starts_with("Zweite Zeile"), "{second}");
}

#[test]
fn chunks_have_neighbours() {
    let server = serve(|_| ()).ready();
    let whole = get(server.address, "/v1/documents/guide/tides.md").json();
    let id = |n: usize| whole["chunks"][n]["id"].as_str().unwrap().to_owned();
    let middle = get(server.address, &format!("/v1/chunks/{}", id(1))).json();
    assert_eq!((middle["previous"].as_str(), middle["next"].as_str()), (Some(&*id(0)), Some(&*id(2))));
    assert_eq!(middle["context"]["text"], whole["text"].as_str().unwrap().trim_end());
    assert!(middle.get("score").is_none() && middle.get("snippet").is_none() && middle.get("rank").is_none());
    let last = get(server.address, &format!("/v1/chunks/{}?context=0", id(2))).json();
    assert!(last["next"].is_null() && last.get("next").is_some() && last.get("context").is_none());
}

#[test]
fn texts_are_cut() {
    let server = serve(|_| ()).ready();
    let text = "# One\n\nFirst sentence. Second sentence.\n\n# Two\n\nThird sentence.";
    let cut = post(server.address, "/v1/segment", &json!({ "text": text, "segmenter": "texttiling", "max_tokens": 6 }));
    assert_eq!(cut.status, 200, "{}", cut.text());
    let answer = cut.json();
    let sentences = answer["sentences"].as_array().unwrap();
    assert_eq!(answer["scores"].as_array().unwrap().len(), sentences.len() - 1);
    assert!(answer["threshold"].is_number());
    for chunk in answer["chunks"].as_array().unwrap() {
        let (from, to) = (chunk["start"].as_u64().unwrap() as usize, chunk["end"].as_u64().unwrap() as usize);
        assert_eq!(chunk["text"], text[from..to]);
        assert!(chunk["tokens"].as_u64().unwrap() <= 6);
    }
    let hard =
        post(server.address, "/v1/segment", &json!({ "text": text, "segmenter": "paragraph:max_tokens=0" })).json();
    assert_eq!((&hard["scores"], hard.get("threshold")), (&json!([]), None));
    assert!(!hard["boundaries"].as_array().unwrap().is_empty());
    let empty = post(server.address, "/v1/segment", &json!({ "text": "" })).json();
    assert_eq!((&empty["sentences"], &empty["chunks"]), (&json!([]), &json!([])));
    let listed = get(server.address, "/v1/segmenters").json();
    let listed = listed["segmenters"].as_array().unwrap();
    assert!(listed.iter().any(|one| one["spec"] == "texttiling" && one["scores"] == true));
    // Whatever is listed can be asked for.
    for one in listed.iter().filter(|one| !["weswin", "nsp"].contains(&one["spec"].as_str().unwrap())) {
        let reply = post(server.address, "/v1/segment", &json!({ "text": text, "segmenter": one["spec"] }));
        let needs_model = reply.status == 400 && reply.text().contains("models pull");
        assert!(reply.status == 200 || needs_model, "{one}: {}", reply.text());
    }
}

#[test]
fn segmenters_are_compared() {
    let server = serve(|_| ()).ready();
    let ask = json!({ "question": "When do spring tides come?", "segmenters": ["sentence", "fixed:words=20"], "k": 2, "mode": "bm25" });
    let reply = post(server.address, "/v1/compare", &ask);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let answer = reply.json();
    assert_eq!(answer["documents"][0], "guide/tides.md");
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let hit = &result["hits"][0];
        assert!(hit["text"].as_str().unwrap().contains("Spring tides"), "{result}");
        assert!(result["answer"].as_str().unwrap().contains("full moon"), "{result}");
        let document = hit["document"].as_str().unwrap();
        let range = format!("/v1/documents/{document}?start={}&end={}", hit["start"], hit["end"]);
        assert_eq!(get(server.address, &range).json()["text"], hit["text"]);
    }
    assert!(results[0]["chunks"].as_u64() > results[1]["chunks"].as_u64());
    let dense = json!({ "question": "full moon", "segmenters": ["paragraph"], "mode": "hybrid" });
    assert!(!post(server.address, "/v1/compare", &dense).json()["results"][0]["hits"].as_array().unwrap().is_empty());
}

#[test]
fn the_state_of_the_service_is_told() {
    let server = serve(|_| ()).ready();
    let indexes = get(server.address, "/v1/indexes").json();
    let index = &indexes["indexes"][0];
    assert_eq!(
        (&index["name"], &index["documents"], &index["embedder"]),
        (&json!("docs"), &json!(5), &json!("bag-of-words"))
    );
    assert_eq!(index["modes"], json!(["hybrid", "bm25", "dense"]));
    assert_eq!(index["default_mode"], "hybrid");
    assert!(index["written"].as_str().unwrap().ends_with('Z') && index["chunks"].as_u64() > Some(5));
    assert_eq!(get(server.address, "/healthz").text(), "ok\n");
    let refreshed = post(server.address, "/v1/indexes/docs/refresh", &json!({})).json();
    assert_eq!(
        (&refreshed["index"], &refreshed["reopened"], &refreshed["following"]),
        (&json!("docs"), &json!(false), &json!(false))
    );
    assert_eq!(metric(server.address, "pericope_index_chunks{index=\"docs\"}"), index["chunks"].as_f64());
    assert_eq!(metric(server.address, "pericope_requests_total{route=\"/v1/indexes\",status=\"200\"}"), Some(1.0));
    assert_eq!(metric(server.address, "pericope_request_seconds_count{route=\"/v1/indexes\"}"), Some(1.0));
    if cfg!(target_os = "linux") {
        assert!(metric(server.address, "process_resident_memory_bytes") > Some(1e6));
    }
    assert_eq!(get(server.address, "/docs").header("content-type"), Some("text/html; charset=utf-8"));
    assert!(get(server.address, "/docs").header("content-security-policy").unwrap().contains("script-src 'self'"));
    let text = get(server.address, "/docs").text();
    assert!(!text.contains("http://") && !text.contains("https://"), "nothing from elsewhere");
}

#[test]
fn what_is_wrong_is_named() {
    let server = serve(|_| ()).ready();
    for (path, status, code) in [
        ("/v1/search", 400, "bad-parameter"),
        ("/v1/search?q=", 400, "bad-parameter"),
        ("/v1/search?q=a&k=0", 400, "bad-parameter"),
        ("/v1/search?q=a&k=101", 400, "bad-parameter"),
        ("/v1/search?q=a&k=x", 400, "bad-parameter"),
        ("/v1/search?q=a&context=11", 400, "bad-parameter"),
        ("/v1/search?q=a&mode=words", 400, "bad-parameter"),
        ("/v1/search?q=a&limit=3", 400, "bad-parameter"),
        ("/v1/segmenters?q=a", 400, "bad-parameter"),
        ("/v1/indexes?name=docs", 400, "bad-parameter"),
        ("/v1/search?q=a&index=nobody", 404, "no-such-index"),
        ("/v1/documents/nobody.md", 404, "no-such-document"),
        ("/v1/documents/guide/tides.md?lines=7-5", 400, "bad-parameter"),
        ("/v1/documents/guide/tides.md?id=guide/other.md", 400, "bad-parameter"),
        ("/v1/documents/guide/tides.md?lines=0", 400, "bad-parameter"),
        ("/v1/documents/guide/tides.md?lines=1&start=0", 400, "bad-parameter"),
        ("/v1/documents/guide/tides.md?start=5&end=5", 400, "bad-parameter"),
        ("/v1/documents/guide/tides.md?start=100000", 404, "no-such-range"),
        ("/v1/documents?limit=1001", 400, "bad-parameter"),
        ("/v1/chunks/nobody", 400, "bad-parameter"),
        ("/v1/chunks/00000000-0000-0000-0000-000000000000", 404, "no-such-chunk"),
        ("/v1/segment", 405, "wrong-method"),
        ("/nowhere", 404, "no-such-route"),
    ] {
        let reply = get(server.address, path);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path}: {}", reply.text());
    }
    for (asked, said) in [
        ("k=x", "`k=x`: "),
        ("context=-1", "`context=-1`: "),
        ("k=5&k=7", "`k` is given 2 times: "),
        ("mode=a%20b", "`mode=a b`: unknown variant"),
    ] {
        let reply = get(server.address, &format!("/v1/search?q=a&{asked}"));
        assert!(reply.text().contains(&format!("\"detail\":\"{said}")), "{}", reply.text());
    }
    let empty = get(server.address, "/v1/search?q=&k=3").text();
    assert!(empty.contains("missing field `q`, which is empty"), "{empty}");
    assert!(!get(server.address, "/v1/search?k=3&mode=").text().contains("empty"));
    for (path, body, status, code) in [
        ("/v1/segment", json!({ "text": "a", "segmenter": "nobody" }), 400, "bad-segmenter"),
        ("/v1/segment", json!({ "text": "a", "segmenter": "weswin:model=/etc/passwd" }), 400, "bad-segmenter"),
        ("/v1/segment", json!({ "text": "a", "format": "pdf" }), 400, "bad-format"),
        ("/v1/segment", json!({ "txt": "a" }), 400, "bad-body"),
        ("/v1/segment?segmenter=sentence", json!({ "text": "a" }), 400, "bad-parameter"),
        ("/v1/compare?k=3", json!({ "question": "a", "segmenters": ["sentence"] }), 400, "bad-parameter"),
        ("/v1/compare", json!({ "question": "a", "segmenters": [] }), 400, "bad-parameter"),
        ("/v1/compare", json!({ "question": "a", "segmenters": ["sentence"], "k": 11 }), 400, "bad-parameter"),
        ("/v1/indexes/nobody/refresh", json!({}), 404, "no-such-index"),
        ("/v1/indexes/docs/refresh?now=1", json!({}), 400, "bad-parameter"),
    ] {
        let reply = post(server.address, path, &body);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path} {body}: {}", reply.text());
    }
}
