use std::path::Path;
use std::sync::Arc;

use pericope_api::TokenCounter;
use pericope_util::sha256_file;

use super::cache::{Cache, Piece};
use super::file::read;
use super::ids::TokenIds;
use super::words::words;
use crate::models::{self, KnownEmbedder, ModelError, embedder_by_name};
use crate::modules::transformer_folder;

/// Digits of a file's SHA-256 in a counter's name.
const DIGITS: usize = 12;
/// Words of up to so many bytes are remembered.
const REMEMBERED: usize = 48;

/// Counts tokens by any `tokenizer.json`.
///
/// What stands between white space is tokenised by itself, so that the tokens of `"a b"` are those of `"a"` and of `"b"`;
/// tokens of white space, which byte-level tokenizers have for line ends, are not counted. Special tokens that the file
/// adds to every text are.
#[derive(Debug)]
pub struct FileCounter {
    name: String,
    ids: TokenIds,
    special: usize,
    cache: Cache,
}

impl FileCounter {
    /// Reads the file that a spec names: a `tokenizer.json`, the folder of one, or an installed embedding model, with or without `@` and
    /// the first digits of its SHA-256, which it must have then.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where the file is no tokenizer; [`ModelError::External`] where its SHA-256
    /// is another.
    pub fn load(spec: &str) -> Result<Self, ModelError> {
        let (path, expected) = parts(spec);
        // One name, however it was written.
        let (path, folder) = match known(path) {
            Some(model) => (model.name, models::locate(model.name)?.path),
            None => (path, path.into()),
        };
        let file = if folder.is_dir() { transformer_folder(&folder).join(FILE) } else { folder };
        let tokenizer = read(&file)?;
        let sum = sha256_file(&file).map_err(ModelError::io(&file))?;
        let digits = sum.get(..DIGITS).unwrap_or(&sum);
        if let Some(expected) = expected.filter(|expected| *expected != digits) {
            return Err(ModelError::External(format!(
                "{}: its SHA-256 begins with {digits}, and tokens were counted by one that begins with {expected}: put that \
                 file back, or name another with --tokenizer",
                file.display()
            )));
        }
        let special = tokenizer.encode_fast("", true).map_or(0, |made| made.get_ids().len());
        let name = format!("{path}@{digits}");
        Ok(Self { name, ids: TokenIds::new(tokenizer, &file)?, special, cache: Cache::default() })
    }

    fn pieces(&self, word: &str) -> Arc<[Piece]> {
        let make =
            || self.ids.located(word, usize::MAX).into_iter().map(|(id, range)| (id, range.end as u32)).collect();
        match word.len() <= REMEMBERED {
            true => self.cache.get_or(word, make),
            false => make(),
        }
    }
}

impl TokenCounter for FileCounter {
    fn name(&self) -> &str {
        &self.name
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        for (at, word) in words(text) {
            ends.extend(self.pieces(word).iter().map(|(_, end)| at + *end as usize));
        }
    }

    fn special_tokens(&self) -> usize {
        self.special
    }
}

/// The file of a tokenizer in the folder of a model.
pub(crate) const FILE: &str = "tokenizer.json";

/// True for a spec that may name a file, a folder or a model, and not a counter of this crate.
pub(crate) fn is_file(spec: &str) -> bool {
    spec.contains(['/', '\\', '.', '@']) || Path::new(spec).exists() || known(spec).is_some()
}

/// The known model of that name, where no tokenizer lies at that path.
fn known(name: &str) -> Option<&'static KnownEmbedder> {
    let path = Path::new(name);
    embedder_by_name(name).ok().filter(|_| !path.is_file() && !transformer_folder(path).join(FILE).is_file())
}

/// The path, and the digits that it must have.
fn parts(spec: &str) -> (&str, Option<&str>) {
    match spec.rsplit_once('@') {
        Some((path, digits)) if digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            (path, Some(digits))
        }
        _ => (spec, None),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::TokenCounter;

    use super::FileCounter;

    /// A tokenizer of pieces of words, with `<s>` before every text.
    const TOKENIZER: &str = r###"{"version":"1.0","truncation":null,"padding":null,
        "added_tokens":[{"id":0,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
        "normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},
        "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},
        {"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],
        "special_tokens":{"<s>":{"id":"<s>","ids":[0],"tokens":["<s>"]}}},"decoder":null,
        "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
        "vocab":{"<s>":0,"[UNK]":1,"werk":2,"##statt":3,"die":4,".":5}}}"###;

    #[test]
    fn a_tokenizer_counts_by_the_file_that_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokenizer.json");
        std::fs::write(&file, TOKENIZER).unwrap();
        let counter = FileCounter::load(folder.path().to_str().unwrap()).unwrap();
        let mut ends = Vec::new();
        counter.token_ends("Die  Werkstatt.\nneu", &mut ends);
        assert_eq!(ends, [3, 9, 14, 15, 19]);
        assert_eq!(counter.special_tokens(), 1);
        let (a, b) = ("die Werk", "statt die.");
        assert_eq!(counter.count(&format!("{a}\n\n{b}")), counter.count(a) + counter.count(b));

        // The name that an index records leads back to the file, and to no other.
        assert_eq!(FileCounter::load(counter.name()).unwrap().name(), counter.name());
        std::fs::write(&file, TOKENIZER.replace("\"die\":4", "\"das\":4")).unwrap();
        let error = FileCounter::load(counter.name()).unwrap_err().to_string();
        assert!(error.contains("tokenizer.json: its SHA-256 begins with"), "{error}");
        let error = FileCounter::load("nowhere/tokenizer.json").unwrap_err().to_string();
        assert!(error.contains("nowhere/tokenizer.json"), "{error}");
        std::fs::write(&file, "{").unwrap();
        assert!(FileCounter::load(file.to_str().unwrap()).unwrap_err().to_string().contains("tokenizer.json"));
    }
}
