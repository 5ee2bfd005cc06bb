#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use candle_core::{Device, Tensor};
use pericope_util::sha256_hex;
use serde_json::{Value, json};

use super::super::{InstallState, Models, embedder_by_name};
use super::{Hub, ModelDir, ModelError, Progress, pull};

const NAME: &str = "e5-small-v2";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The answers of a hub by path, and the paths that were asked for.
struct Stand {
    address: String,
    answers: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Stand {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (held, log) = (Arc::clone(&answers), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines: Vec<String> = BufReader::new(stream.try_clone().unwrap())
                    .lines()
                    .map(Result::unwrap)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let path = lines[0].split(' ').nth(1).unwrap().to_owned();
                let body = held.lock().unwrap().get(&path).cloned();
                let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
                let body = body.unwrap_or_default();
                let length = body.len();
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                log.lock().unwrap().push(path);
                stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
            }
        });
        Self { address, answers, seen }
    }

    /// Publishes files at a commit; those named in `large` as the hub keeps large ones, with a checksum.
    fn publish(&self, files: &[(&str, &[u8])], large: &[&str]) {
        let mut answers = self.answers.lock().unwrap();
        let listed: Vec<Value> = files
            .iter()
            .map(|(name, body)| {
                let lfs = large.contains(name).then(|| json!({"sha256": sha256_hex(body), "size": body.len()}));
                json!({"rfilename": name, "size": body.len(), "blobId": "0", "lfs": lfs})
            })
            .collect();
        let listed = json!({"sha": COMMIT, "siblings": listed}).to_string();
        answers.insert("/api/models/intfloat/e5-small-v2/revision/main?blobs=true".into(), listed.into_bytes());
        for (name, body) in files {
            answers.insert(format!("/intfloat/e5-small-v2/resolve/{COMMIT}/{name}"), body.to_vec());
        }
    }

    fn pull(&self, home: &Path) -> Result<ModelDir, ModelError> {
        let mut ready = Vec::new();
        let hub = Hub::new(Some(&self.address));
        pull(&Models::at(home), embedder_by_name(NAME).unwrap(), &hub, &mut |event| {
            if let Progress::Ready(file) = event {
                ready.push(file.to_owned());
            }
        })
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

const FILES: &[(&str, &[u8])] = &[
    ("README.md", b"not wanted"),
    ("config.json", b"{}"),
    ("tokenizer.json", b"{\"a\": 1}"),
    ("modules.json", b"[]"),
    ("1_Pooling/config.json", b"{\"b\": 2}"),
    ("model.safetensors", b"weights"),
    ("pytorch_model.bin", b"the same again"),
];

#[test]
fn a_model_of_the_hub_is_fetched_recorded_and_verified() {
    let home = tempfile::tempdir().unwrap();
    let stand = Stand::new();
    stand.publish(FILES, &["model.safetensors"]);
    let models = Models::at(home.path());
    assert!(models.locate(NAME).unwrap_err().to_string().contains("run `pericope models pull e5-small-v2`"));
    let dir = stand.pull(home.path()).unwrap();
    assert_eq!(dir.path, home.path().join("models/e5-small-v2"));
    let asked = stand.asked();
    assert_eq!(asked.len(), 6, "{asked:?}");
    assert!(asked[1..].iter().all(|path| path.contains(COMMIT)) && !asked.iter().any(|path| path.contains("README")));
    assert_eq!(std::fs::read(dir.file("1_Pooling/config.json")).unwrap(), b"{\"b\": 2}");
    let record: Value = serde_json::from_slice(&std::fs::read(dir.file(".pulled.json")).unwrap()).unwrap();
    assert_eq!(
        (record["repository"].as_str(), record["revision"].as_str()),
        (Some("intfloat/e5-small-v2"), Some(COMMIT))
    );
    assert!(record["files"].as_array().unwrap().iter().all(|file| file["sha256"].as_str().unwrap().len() == 64));
    assert!(!home.path().join("models/.e5-small-v2.partial").exists());
    assert_eq!(models.locate("intfloat/e5-small-v2").unwrap(), dir);
    assert_eq!(models.verify("e5-small").unwrap(), dir);
    let row = models.list().into_iter().find(|row| row.name == NAME).unwrap();
    assert_eq!((row.state, row.bytes), (InstallState::Installed, Some(27)));

    // What is there and right is not asked for.
    stand.pull(home.path()).unwrap();
    assert!(stand.asked().is_empty());
    // A file that changed is told, and fetched again at the same commit.
    std::fs::write(dir.file("tokenizer.json"), b"{\"a\": 2}").unwrap();
    let text = models.verify(NAME).unwrap_err().to_string();
    assert!(text.contains("tokenizer.json is damaged") && text.contains("pericope models pull e5-small-v2"), "{text}");
    stand.pull(home.path()).unwrap();
    assert_eq!(stand.asked(), [format!("/intfloat/e5-small-v2/resolve/{COMMIT}/tokenizer.json")]);
    models.verify(NAME).unwrap();
}

#[test]
fn other_weights_than_the_hub_names_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let stand = Stand::new();
    stand.publish(FILES, &["model.safetensors"]);
    let path = format!("/intfloat/e5-small-v2/resolve/{COMMIT}/model.safetensors");
    stand.answers.lock().unwrap().insert(path, b"wEights".to_vec());
    let text = stand.pull(home.path()).unwrap_err().to_string();
    assert!(text.contains("model.safetensors") && text.contains("SHA-256 differs") && !text.contains('\n'), "{text}");
    assert!(Models::at(home.path()).locate(NAME).is_err());
    // What did arrive is kept, and the rest fetched later.
    stand.asked();
    stand.publish(FILES, &["model.safetensors"]);
    stand.pull(home.path()).unwrap();
    assert_eq!(stand.asked().len(), 2);
}

#[test]
fn a_repository_that_lacks_a_file_is_named() {
    let home = tempfile::tempdir().unwrap();
    let stand = Stand::new();
    let text = stand.pull(home.path()).unwrap_err().to_string();
    assert!(text.contains("/api/models/intfloat/e5-small-v2") && text.contains("404"), "{text}");
    stand.publish(&[("config.json", b"{}")], &[]);
    let text = stand.pull(home.path()).unwrap_err().to_string();
    assert!(text.contains("intfloat/e5-small-v2 has no tokenizer.json"), "{text}");
}

#[test]
fn weights_of_another_kind_that_are_damaged_are_named() {
    let home = tempfile::tempdir().unwrap();
    let stand = Stand::new();
    let files = [FILES[1], FILES[2], ("pytorch_model.bin", &b"PK no archive"[..])];
    stand.publish(&files, &["pytorch_model.bin"]);
    let text = stand.pull(home.path()).unwrap_err().to_string();
    assert!(text.contains("pytorch_model.bin") && !text.contains('\n'), "{text}");
    assert!(Models::at(home.path()).locate(NAME).is_err());
}

/// The golden file is written by PyTorch, `scripts/golden/golden_embedders.py`.
#[test]
fn weights_of_pytorch_become_safetensors() {
    let home = tempfile::tempdir().unwrap();
    let stand = Stand::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/pytorch_model.bin");
    let body = std::fs::read(golden).unwrap();
    let files = [FILES[1], FILES[2], ("pytorch_model.bin", body.as_slice())];
    stand.publish(&files, &["pytorch_model.bin"]);
    let dir = stand.pull(home.path()).unwrap();
    let tensors: HashMap<String, Tensor> =
        candle_core::safetensors::load(dir.file("model.safetensors"), &Device::Cpu).unwrap();
    let numbers: Vec<f32> = tensors["norm.weight"].to_vec1().unwrap();
    assert_eq!(numbers, [1.0, 0.5, -2.0]);
    assert_eq!(tensors["embed.weight"].dims(), [2, 3]);
    assert!(!dir.file("pytorch_model.bin").exists());
    Models::at(home.path()).verify(NAME).unwrap();
    // Damaged, they are fetched and made again.
    std::fs::write(dir.file("model.safetensors"), b"x").unwrap();
    stand.asked();
    stand.pull(home.path()).unwrap();
    assert!(stand.asked().iter().any(|path| path.ends_with("pytorch_model.bin")));
}
