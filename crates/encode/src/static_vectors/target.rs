use std::path::Path;

use serde_json::Value;

use crate::models::ModelError;

/// The `model_type` of a folder of static vectors.
pub(super) const KIND: &str = "model2vec";

/// Files by which a folder without a `config.json` is another model's all the same.
const OTHERS: [&str; 5] =
    ["modules.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "tokenizer.json"];

/// Refuses a folder whose files would be lost: the encoder's own, and that of another model. Static vectors give way to new
/// ones.
///
/// # Errors
/// [`ModelError::Taken`], naming the folder.
pub(super) fn check(out: &Path, base: &Path) -> Result<(), ModelError> {
    let taken = |reason: String| Err(ModelError::Taken { path: out.to_owned(), reason });
    // What is not there has no other name either.
    let Ok(own) = out.canonicalize() else { return Ok(()) };
    if base.canonicalize().is_ok_and(|base| base == own) {
        return taken("it is the folder of the encoder itself".to_owned());
    }
    if !own.is_dir() {
        return taken("it is a file".to_owned());
    }
    match std::fs::read(own.join("config.json")) {
        Ok(text) => {
            let config: Option<Value> = serde_json::from_slice(&text).ok();
            let kind = config.as_ref().and_then(|config| config.get("model_type")).and_then(Value::as_str);
            match kind {
                Some(KIND) => Ok(()),
                Some(kind) => taken(format!("it holds another model (model_type of its config.json is {kind:?})")),
                None => taken("it holds a config.json that is not one of static vectors".to_owned()),
            }
        }
        Err(_) => match OTHERS.iter().find(|file| own.join(file).exists()) {
            Some(file) => taken(format!("it holds {file}, and no config.json of static vectors")),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::check;

    #[test]
    fn a_folder_of_another_model_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (out, base) = (folder.path().join("out"), Path::new("base"));
        check(&out, base).unwrap();
        std::fs::create_dir(&out).unwrap();
        check(&out, base).unwrap();
        std::fs::write(out.join("modules.json"), "[]").unwrap();
        assert!(check(&out, base).unwrap_err().to_string().contains("it holds modules.json"));
        for (config, says) in [
            (r#"{"model_type": "bert"}"#, "(model_type of its config.json is \"bert\")"),
            ("{}", "a config.json that is not one of static vectors"),
            ("{", "a config.json that is not one of static vectors"),
        ] {
            std::fs::write(out.join("config.json"), config).unwrap();
            let text = check(&out, base).unwrap_err().to_string();
            assert!(text.contains(says), "{text}");
        }
        std::fs::write(out.join("config.json"), r#"{"model_type": "model2vec"}"#).unwrap();
        check(&out, base).unwrap();
        // By another way to the same place.
        let text = check(&out.join("."), &folder.path().join("out")).unwrap_err().to_string();
        assert!(text.contains("the folder of the encoder itself: name a folder"), "{text}");
        let file = out.join("modules.json");
        assert!(check(&file, base).unwrap_err().to_string().contains("it is a file"));
    }
}
