//! `[[retriever]]`: services and programs of others that find passages.

use pericope_segment::foreign::Offsets;
use pericope_util::command_words;
use serde::{Deserialize, Serialize};

use super::GeneratorKind;

/// Why a retriever with the spec `custom` cannot be asked.
pub(crate) const NOT_BROUGHT: &str =
    "spec is custom: a program in Rust or Python that runs the experiment brings it, and none of this name was brought";

/// A day: no answer takes longer.
const LONGEST: f64 = 86_400.0;

/// `[[retriever]]`: something that was deployed already and finds passages by itself. It is measured on the same questions
/// as the chunkers; its ranking stands under each of `retrieval.modes`, which say nothing about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrieverConfig {
    /// Name in tables and charts.
    pub name: String,
    /// What is asked: `http://HOST/PATH` (or `https`), `command:PROGRAM ARGUMENTS`, or the collection of another program,
    /// `qdrant://HOST:PORT/COLLECTION?text=FIELD&document=FIELD&vector=NAME`. `memrecall:documents=N` is none of others: it reads the N
    /// documents (default 3; 0: all) with most of the question's words from end to end, without chunks, by the judge of
    /// `answer.model`, and gives their key blocks. `custom` is a retriever of that name which the program that runs the experiment brings.
    pub spec: String,
    /// Environment variable with the key that is sent as `Authorization: Bearer KEY` (`http`). Default: no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// What `start` and `end` of an answer count where it does not say: `bytes` (default) or `chars`.
    #[serde(default)]
    pub offsets: Offsets,
    /// Seconds until an answer is given up, up to a day; default 60. The first answer of a program has two minutes more, for
    /// models to be loaded; there is nothing more after a restart.
    #[serde(default = "timeout")]
    pub timeout_seconds: f64,
    /// The number of times that a failed call is repeated (`http` and `qdrant`); default 3.
    #[serde(default = "retries")]
    pub retries: u32,
    /// As `answer.generator`, for this retriever alone. Answers that it brings along come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorKind>,
}

fn timeout() -> f64 {
    60.0
}

fn retries() -> u32 {
    3
}

/// What a spec names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked<'a> {
    /// A service by its address.
    Http(&'a str),
    /// A program and its arguments.
    Command(Vec<String>),
    /// A collection on a server.
    Collection(&'a str),
    /// What the caller brought under the retriever's name.
    Brought,
    /// Whole documents, read by MemRecall: so many of them, or all.
    Recall {
        /// Those with most of the question's words; 0: all.
        documents: usize,
    },
}

/// Documents that `memrecall` reads.
const DOCUMENTS: usize = 3;

impl RetrieverConfig {
    /// Returns a retriever with every default.
    #[must_use]
    pub fn new(name: &str, spec: &str) -> Self {
        Self {
            name: name.to_owned(),
            spec: spec.to_owned(),
            api_key_env: None,
            offsets: Offsets::default(),
            timeout_seconds: timeout(),
            retries: retries(),
            generator: None,
        }
    }

    /// Returns true where the program that runs the experiment brings it.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        matches!(self.asked(), Ok(Asked::Brought))
    }

    /// What is asked.
    pub(crate) fn asked(&self) -> Result<Asked<'_>, String> {
        let spec = self.spec.trim();
        if spec == "custom" {
            return Ok(Asked::Brought);
        }
        if ["http://", "https://"].iter().any(|scheme| spec.starts_with(scheme)) {
            return Ok(Asked::Http(spec));
        }
        if ["qdrant://", "qdrants://"].iter().any(|scheme| spec.starts_with(scheme)) {
            return Ok(Asked::Collection(spec));
        }
        if let Some(keys) = spec.strip_prefix("memrecall") {
            return recall(keys).map(|documents| Asked::Recall { documents });
        }
        match spec.strip_prefix("command:") {
            Some(command) => command_words(command).map(Asked::Command).map_err(|error| error.to_string()),
            // The spec is not repeated: what is no address may hold anything.
            None => {
                let known =
                    "http://HOST/PATH, command:PROGRAM ARGUMENTS, qdrant://HOST:PORT/COLLECTION, memrecall:documents=N";
                Err(format!("spec is none of {known}"))
            }
        }
    }

    /// Checks what the types do not say; `embeds` says whether the experiment has an embedder.
    pub(super) fn check(&self, embeds: bool) -> Result<(), String> {
        let of = |problem: String| format!("retriever '{}': {problem}", self.name);
        let asked = self.asked().map_err(of)?;
        if !(self.timeout_seconds > 0.0 && self.timeout_seconds <= LONGEST) {
            return Err(of(format!("timeout_seconds must be above 0 and at most {LONGEST}")));
        }
        match asked {
            Asked::Collection(_) if !embeds => {
                Err(of("a collection is searched by vectors, but retrieval.embedder = \"none\"; name the embedder that filled it".into()))
            }
            Asked::Brought | Asked::Recall { .. } if self.api_key_env.is_some() => Err(of("api_key_env is for services".into())),
            Asked::Command(_) | Asked::Collection(_) if self.api_key_env.is_some() => {
                Err(of("api_key_env is for services: a program reads its own environment, and a collection PERICOPE_QDRANT_API_KEY".into()))
            }
            _ => Ok(()),
        }
    }
}

/// What stands behind `memrecall`.
fn recall(keys: &str) -> Result<usize, String> {
    let wrong = || format!("spec memrecall{keys}: known is memrecall or memrecall:documents=N");
    match keys.strip_prefix(':') {
        None if keys.is_empty() => Ok(DOCUMENTS),
        Some(keys) => keys.strip_prefix("documents=").and_then(|n| n.parse().ok()).ok_or_else(wrong),
        None => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Asked, RetrieverConfig};

    #[test]
    fn specs_say_what_is_asked() {
        let asked = |spec: &str| RetrieverConfig::new("r", spec).asked().map(|asked| format!("{asked:?}"));
        assert_eq!(asked("https://h/x").unwrap(), "Http(\"https://h/x\")");
        assert_eq!(asked("command: python3 'my r.py' ").unwrap(), "Command([\"python3\", \"my r.py\"])");
        assert_eq!(asked("qdrant://h/c?text=t").unwrap(), "Collection(\"qdrant://h/c?text=t\")");
        assert_eq!(asked("custom").unwrap(), "Brought");
        assert_eq!(asked("memrecall").unwrap(), "Recall { documents: 3 }");
        assert_eq!(asked("memrecall:documents=0").unwrap(), "Recall { documents: 0 }");
        for wrong in ["memrecall:", "memrecall:documents=x", "memrecalls", "memrecall:k=1"] {
            assert!(asked(wrong).unwrap_err().contains("memrecall:documents=N"), "{wrong}");
        }
        for wrong in ["", "ftp://key@h", "command:", "command:'x", "http:/h"] {
            let said = asked(wrong).unwrap_err();
            assert!(!said.contains("key"), "{said}");
        }
        assert!(matches!(RetrieverConfig::new("r", " http://h ").asked(), Ok(Asked::Http("http://h"))));
        let check = |retriever: RetrieverConfig| retriever.check(false).unwrap_err();
        assert!(check(RetrieverConfig::new("r", "qdrant://h/c")).contains("by vectors"));
        let slow = RetrieverConfig { timeout_seconds: f64::NAN, ..RetrieverConfig::new("r", "http://h") };
        assert!(check(slow).contains("timeout_seconds"));
        let key = RetrieverConfig { api_key_env: Some("K".into()), ..RetrieverConfig::new("r", "command:x") };
        assert!(check(key).contains("its own environment"));
    }
}
