//! The steps of an embedding model in the layout of sentence-transformers, and the folder in which its transformer lies.

use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::models::ModelError;

/// The file that says what is done with a text, step by step.
pub(crate) const MODULES: &str = "modules.json";

/// The class of the step that reads a text.
pub(crate) const TRANSFORMER: &str = "Transformer";

/// A step of `modules.json`.
pub(crate) struct Module {
    pub kind: String,
    pub path: String,
}

impl Module {
    /// The folder of its files.
    pub(crate) fn folder(&self, model: &Path) -> PathBuf {
        // Joining nothing would put a separator behind the name of the model.
        if self.path.is_empty() { model.to_owned() } else { model.join(&self.path) }
    }
}

/// The steps of a model; none where there is no `modules.json`.
///
/// # Errors
/// [`ModelError`], naming the file.
pub(crate) fn modules(folder: &Path) -> Result<Vec<Module>, ModelError> {
    let path = folder.join(MODULES);
    let Some(listed) = json::<Value>(&path)? else { return Ok(Vec::new()) };
    let text = |module: &Value, key: &str| module.get(key).and_then(Value::as_str).map(str::to_owned);
    let module = |module: &Value| {
        let name = text(module, "type")?;
        // The name of a class: its path changed between versions.
        let kind = name.rsplit('.').next().unwrap_or_default().to_owned();
        let path = text(module, "path")?;
        // Steps lie below the folder.
        let inside = Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
        inside.then_some(Module { kind, path })
    };
    let modules: Option<Vec<Module>> = listed.as_array().and_then(|listed| listed.iter().map(module).collect());
    modules.ok_or_else(|| ModelError::unusable(&path, "it is no list of steps with a type and a path"))
}

/// The folder with the configuration, tokenizer and weights of a model: where `modules.json` says (`0_Transformer`, as older
/// versions saved), else the folder itself.
pub(crate) fn transformer_folder(folder: &Path) -> PathBuf {
    let modules = modules(folder).unwrap_or_default();
    let own = modules.iter().rev().find(|module| module.kind == TRANSFORMER);
    own.map_or_else(|| folder.to_owned(), |module| module.folder(folder))
}

/// The content of a file; `None` where it is not there.
///
/// # Errors
/// [`ModelError`], naming the file.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|e| ModelError::unusable(path, e)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ModelError::io(path)(e)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::transformer_folder;

    #[test]
    fn a_transformer_lies_where_the_steps_say() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path();
        assert_eq!(transformer_folder(model), model);
        for (modules, wanted) in [
            (
                r#"[{"type": "a.b.Transformer", "path": "0_Transformer"}, {"type": "Pooling", "path": "1_Pooling"}]"#,
                "0_Transformer",
            ),
            (r#"[{"type": "Transformer", "path": ""}]"#, ""),
            (r#"[{"type": "Transformer", "path": "../other"}]"#, ""),
            (r#"[{"type": "StaticEmbedding", "path": "."}]"#, ""),
            ("{", ""),
        ] {
            std::fs::write(model.join("modules.json"), modules).unwrap();
            assert_eq!(transformer_folder(model), model.join(wanted), "{modules}");
        }
    }
}
