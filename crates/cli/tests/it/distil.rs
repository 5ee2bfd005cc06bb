//! `pericope models distil`: the folders that it leaves alone.

use std::fs;

use crate::common::{root, stderr, without_models};

#[test]
fn an_encoder_is_not_overwritten_by_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(root().join("crates/encode/tests/golden/bert-tiny").join(file), own.join(file)).unwrap();
    }
    let before = fs::read(own.join("model.safetensors")).unwrap();
    let distil =
        |out: &str| without_models(folder.path()).args(["models", "distil", "own", "--out", out]).output().unwrap();
    for out in ["own", "own/../own/"] {
        let refused = distil(out);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("it is the folder of the encoder itself"), "{}", stderr(&refused));
    }
    assert_eq!(fs::read(own.join("model.safetensors")).unwrap(), before);
    // Twice: a table gives way to a newer one.
    for _ in 0..2 {
        let made = distil("table");
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    }
}
