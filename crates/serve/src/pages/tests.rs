use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::assets::{self, Asset};
use super::{POLICY, router};

const PAGES: [&str; 4] = ["/", "/document", "/compare", "/status"];

/// An answer as it came over the wire.
struct Answer {
    status: u16,
    headers: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.lines().filter_map(|line| line.split_once(": "));
        let (_, value) = values.find(|(one, _)| one.eq_ignore_ascii_case(name))?;
        assert!(values.all(|(one, _)| !one.eq_ignore_ascii_case(name)), "{name} is there twice");
        Some(value)
    }
}

/// Runs a test against the routes on a real socket.
fn served(test: impl FnOnce(SocketAddr) + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, router()).await });
        tokio::task::spawn_blocking(move || test(address)).await.unwrap();
        server.abort();
    });
}

fn get(address: SocketAddr, path: &str, headers: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let (first, headers) = head.split_once("\r\n").unwrap();
    let status = first.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, headers: headers.to_owned(), body: body.to_owned() }
}

fn text(asset: &Asset) -> &str {
    std::str::from_utf8(&asset.body).unwrap()
}

/// The files that a file names: links and scripts of pages, imports of modules.
fn named(asset: &Asset) -> BTreeSet<String> {
    let text = text(asset);
    let quoted = |before: &'static str| {
        text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect::<Vec<_>>()
    };
    let files = [quoted("href=\"assets/"), quoted("src=\"assets/"), quoted("from \"./")].concat();
    files.into_iter().map(|name| format!("/assets/{name}")).collect()
}

#[test]
fn every_page_has_its_policy_and_its_tag() {
    served(|address| {
        for path in PAGES.into_iter().chain(["/assets/style.css", "/assets/search.js", "/searchbox.js"]) {
            let answer = get(address, path, "");
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(answer.header("content-security-policy"), Some(POLICY), "{path}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
            let tag = answer.header("etag").unwrap().to_owned();
            for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
                let again = get(address, path, &format!("If-None-Match: {known}\r\n"));
                assert_eq!((again.status, again.body.as_str()), (304, ""), "{path} {known}");
                assert_eq!(again.header("etag"), Some(tag.as_str()), "{path}");
            }
            assert_eq!(get(address, path, "If-None-Match: \"other\"\r\n").status, 200, "{path}");
        }
    });
}

#[test]
fn pages_are_asked_for_anew_and_the_search_box_is_for_every_site() {
    served(|address| {
        let page = get(address, "/", "");
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("access-control-allow-origin"), None);
        assert_eq!(page.header("cross-origin-resource-policy"), Some("same-origin"));
        let search_box = get(address, "/searchbox.js", "");
        assert_eq!(search_box.header("cache-control"), Some("public, max-age=3600"));
        assert_eq!(search_box.header("content-type"), Some("text/javascript; charset=utf-8"));
        assert_eq!(search_box.header("access-control-allow-origin"), Some("*"));
        assert_eq!(search_box.header("cross-origin-resource-policy"), Some("cross-origin"));
        assert_eq!(get(address, "/assets/icon.svg", "").header("content-type"), Some("image/svg+xml"));
    });
}

#[test]
fn nothing_of_a_request_comes_back() {
    served(|address| {
        for path in PAGES {
            let hostile = format!("{path}?q=%3Cscript%3Ealert(1)%3C/script%3E&id=%22%3E%3Cimg%3E");
            let headers = "X-Forwarded-Host: <evil>\r\nReferer: http://evil.example/\r\n";
            assert_eq!(get(address, &hostile, headers).body, get(address, path, "").body, "{path}");
        }
        for path in ["/assets/../Cargo.toml", "/assets/%2e%2e/mod.rs", "/assets/", "/assets/shell.html", "/search"] {
            assert_eq!(get(address, path, "").status, 404, "{path}");
        }
    });
}

#[test]
fn every_file_that_is_named_is_there_and_every_file_is_named() {
    let all: BTreeSet<String> = assets::all().iter().map(|asset| asset.path.to_owned()).collect();
    let named: BTreeSet<String> = assets::all().iter().flat_map(named).collect();
    let files: BTreeSet<String> = all.iter().filter(|path| path.starts_with("/assets/")).cloned().collect();
    assert_eq!(named, files);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages/assets");
    let on_disk = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in on_disk.filter(|name| !name.ends_with(".html") && name != "searchbox.js") {
        assert!(all.contains(&format!("/assets/{name}")), "{name} is not served");
    }
}

#[test]
fn pages_load_nothing_from_elsewhere_and_make_no_markup_of_data() {
    for asset in assets::all() {
        let text = text(asset);
        for piece in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "{{"] {
            assert!(!text.contains(piece), "{}: {piece}", asset.path);
        }
        assert!(addresses(text).is_empty(), "{}: {:?}", asset.path, addresses(text));
        if asset.kind.starts_with("text/html") {
            for piece in ["<style", "style=\"", " onclick", " onload", "javascript:", "<script>", "<iframe"] {
                assert!(!text.contains(piece), "{}: {piece}", asset.path);
            }
            assert!(text.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && text.ends_with("</html>\n"));
            assert_eq!(text.matches(" aria-current=\"page\"").count(), 1, "{}", asset.path);
        }
        if asset.kind.starts_with("text/css") {
            assert!(!text.contains("url(") && !text.contains("@import"), "{}", asset.path);
        }
    }
}

/// The addresses of other hosts in a text, but for the name of SVG and the example in the search box.
fn addresses(text: &str) -> Vec<&str> {
    let words = text.split(|letter: char| letter.is_whitespace() || "\"'`()<>".contains(letter));
    let known = ["http://www.w3.org/2000/svg", "https://host"];
    words
        .filter(|word| word.contains("://") || word.starts_with("//") && word.len() > 3)
        .filter(|word| !known.contains(word))
        .collect()
}

#[test]
fn the_search_box_has_less_than_four_kibibytes() {
    served(|address| {
        let answer = get(address, "/searchbox.js", "");
        assert!(answer.body.len() < 4096, "{} bytes", answer.body.len());
        assert_eq!(answer.header("content-encoding"), None);
    });
}

#[test]
fn the_example_of_the_search_box_names_what_it_takes() {
    // Beside the crates, and in no package.
    let example =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/searchbox.html")).unwrap();
    let script = include_str!("assets/searchbox.js");
    assert!(script.contains("customElements.define(\"pericope-search\"") && example.contains("<pericope-search"));
    for attribute in ["src", "label"] {
        assert!(example.contains(&format!(" {attribute}=\"")) && script.contains(&format!("get(\"{attribute}\")")));
    }
    assert!(example.contains("/searchbox.js\" defer></script>"));
}
