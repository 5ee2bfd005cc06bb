use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

/// What a model wants before the texts that it embeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prompts {
    /// Before a query.
    pub query: String,
    /// Before a passage.
    pub passage: String,
}

/// Names of the prompt of passages in `config_sentence_transformers.json`, the first that holds something counts.
const PASSAGE: [&str; 3] = ["document", "passage", "corpus"];

/// The name of the prompt of queries.
const QUERY: &str = "query";

/// The fields about prompts of `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Named {
    #[serde(default)]
    prompts: Option<BTreeMap<String, Option<String>>>,
    #[serde(default)]
    default_prompt_name: Option<String>,
}

impl Named {
    /// The prompts of queries and passages. Where one has none, that of `default_prompt_name` counts, but the prompt of
    /// queries never stands before passages.
    pub(crate) fn prompts(&self) -> Prompts {
        let of = |name: &str| {
            let found = self.prompts.as_ref()?.get(name)?.as_deref();
            found.filter(|prompt| !prompt.is_empty()).map(str::to_owned)
        };
        let other = self.default_prompt_name.as_deref();
        let or_default = |may: fn(&str) -> bool| other.filter(|name| may(name)).and_then(of);
        let query = of(QUERY).or_else(|| or_default(|name| !PASSAGE.contains(&name)));
        let passage = PASSAGE.iter().find_map(|name| of(name)).or_else(|| or_default(|name| name != QUERY));
        Prompts { query: query.unwrap_or_default(), passage: passage.unwrap_or_default() }
    }
}

impl Prompts {
    /// True where nothing stands before any text.
    pub(crate) fn is_empty(&self) -> bool {
        self.query.is_empty() && self.passage.is_empty()
    }

    /// The end of a fingerprint: both prompts, quoted, where there is one.
    pub(crate) fn mark(&self) -> String {
        match self.is_empty() {
            true => String::new(),
            false => format!(":query={:?}:passage={:?}", self.query, self.passage),
        }
    }
}

/// The texts behind a prompt.
pub(crate) fn prefixed<'a>(prompt: &str, texts: &[&'a str]) -> Vec<Cow<'a, str>> {
    let one = |text: &&'a str| match prompt.is_empty() {
        true => Cow::Borrowed(*text),
        false => Cow::Owned(format!("{prompt}{text}")),
    };
    texts.iter().map(one).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Named, Prompts};

    #[test]
    fn prompts_are_found_under_their_names() {
        for (text, query, passage) in [
            ("{}", "", ""),
            (r#"{"prompts": {"query": "q: ", "passage": "p: "}}"#, "q: ", "p: "),
            (r#"{"prompts": {"query": "q: ", "document": "", "passage": "p: "}}"#, "q: ", "p: "),
            (r#"{"prompts": {"query": "q: ", "document": "d: ", "passage": "p: "}}"#, "q: ", "d: "),
            (r#"{"prompts": {"query": "q: ", "document": null}, "default_prompt_name": null}"#, "q: ", ""),
            (r#"{"prompts": {"query": "q: "}, "default_prompt_name": "query"}"#, "q: ", ""),
            (r#"{"prompts": {"text": "t: "}, "default_prompt_name": "text"}"#, "t: ", "t: "),
            (r#"{"prompts": {"document": "d: "}, "default_prompt_name": "document"}"#, "", "d: "),
        ] {
            let named: Named = serde_json::from_str(text).unwrap();
            assert_eq!(named.prompts(), Prompts { query: query.into(), passage: passage.into() }, "{text}");
        }
    }

    #[test]
    fn the_mark_shows_both_on_one_line() {
        assert_eq!(Prompts::default().mark(), "");
        let prompts = Prompts { query: "Find it\nQuery:".into(), passage: String::new() };
        assert_eq!(prompts.mark(), ":query=\"Find it\\nQuery:\":passage=\"\"");
    }
}
