//! Embedding models of the Hugging Face hub that are known by name: what they are, and the words that they want before texts.

use crate::prompts::Prompts;

/// An embedding model of the Hugging Face hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownEmbedder {
    /// The name on the command line and of its folder.
    pub name: &'static str,
    /// Other names that are taken for it, in lower case.
    pub aliases: &'static [&'static str],
    /// Its repository on the hub.
    pub hub: &'static str,
    /// Its family.
    pub family: &'static str,
    /// The way in which its rows are pooled, as `1_Pooling/config.json` calls it.
    pub pooling: &'static str,
    /// The length of its vectors.
    pub dimensions: usize,
    /// Whether it was trained for the first numbers of a vector to serve by themselves (Kusupati et al. 2022, arXiv:2205.13147).
    pub is_matryoshka: bool,
    /// Tokens of a text that it reads.
    pub window: usize,
    /// What stands before a query.
    pub query: &'static str,
    /// What stands before a passage.
    pub passage: &'static str,
    /// The licence of its weights.
    pub licence: &'static str,
    /// The languages that it was made for.
    pub languages: &'static str,
}

const SEARCH: &str = "Represent this sentence for searching relevant passages: ";
const ASKED: &str = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";
/// As [`ASKED`], with the space that this model was trained with.
const ASKED_E5: &str = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ";
const CHINESE: &str = "为这个句子生成表示以用于检索相关文章：";
const ENGLISH: &str = "English";
const MANY: &str = "about 100 languages";
const FIFTY: &str = "50 languages";

/// The models, by maker. Figures and prompts are those of the models' cards and configurations.
const KNOWN: &[KnownEmbedder] = &[
    KnownEmbedder {
        name: "bge-small-en-v1.5",
        aliases: &["bge-small"],
        hub: "BAAI/bge-small-en-v1.5",
        family: "BERT",
        pooling: "cls",
        dimensions: 384,
        is_matryoshka: false,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "bge-base-en-v1.5",
        aliases: &["bge-base"],
        hub: "BAAI/bge-base-en-v1.5",
        family: "BERT",
        pooling: "cls",
        dimensions: 768,
        is_matryoshka: false,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "bge-large-en-v1.5",
        aliases: &["bge-large"],
        hub: "BAAI/bge-large-en-v1.5",
        family: "BERT",
        pooling: "cls",
        dimensions: 1024,
        is_matryoshka: false,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "bge-m3",
        aliases: &[],
        hub: "BAAI/bge-m3",
        family: "XLM-RoBERTa",
        pooling: "cls",
        dimensions: 1024,
        is_matryoshka: false,
        window: 8192,
        query: "",
        passage: "",
        licence: "MIT",
        languages: MANY,
    },
    KnownEmbedder {
        name: "e5-small-v2",
        aliases: &["e5-small"],
        hub: "intfloat/e5-small-v2",
        family: "BERT",
        pooling: "mean",
        dimensions: 384,
        is_matryoshka: false,
        window: 512,
        query: "query: ",
        passage: "passage: ",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "e5-base-v2",
        aliases: &["e5-base"],
        hub: "intfloat/e5-base-v2",
        family: "BERT",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: false,
        window: 512,
        query: "query: ",
        passage: "passage: ",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "e5-large-v2",
        aliases: &["e5-large"],
        hub: "intfloat/e5-large-v2",
        family: "BERT",
        pooling: "mean",
        dimensions: 1024,
        is_matryoshka: false,
        window: 512,
        query: "query: ",
        passage: "passage: ",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "multilingual-e5-small",
        aliases: &[],
        hub: "intfloat/multilingual-e5-small",
        family: "BERT",
        pooling: "mean",
        dimensions: 384,
        is_matryoshka: false,
        window: 512,
        query: "query: ",
        passage: "passage: ",
        licence: "MIT",
        languages: MANY,
    },
    KnownEmbedder {
        name: "multilingual-e5-base",
        aliases: &[],
        hub: "intfloat/multilingual-e5-base",
        family: "XLM-RoBERTa",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: false,
        window: 512,
        query: "query: ",
        passage: "passage: ",
        licence: "MIT",
        languages: MANY,
    },
    KnownEmbedder {
        name: "multilingual-e5-large",
        aliases: &[],
        hub: "intfloat/multilingual-e5-large",
        family: "XLM-RoBERTa",
        pooling: "mean",
        dimensions: 1024,
        is_matryoshka: false,
        window: 512,
        query: "query: ",
        passage: "passage: ",
        licence: "MIT",
        languages: MANY,
    },
    KnownEmbedder {
        name: "gte-small",
        aliases: &[],
        hub: "thenlper/gte-small",
        family: "BERT",
        pooling: "mean",
        dimensions: 384,
        is_matryoshka: false,
        window: 512,
        query: "",
        passage: "",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "gte-base",
        aliases: &[],
        hub: "thenlper/gte-base",
        family: "BERT",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: false,
        window: 512,
        query: "",
        passage: "",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "gte-large",
        aliases: &[],
        hub: "thenlper/gte-large",
        family: "BERT",
        pooling: "mean",
        dimensions: 1024,
        is_matryoshka: false,
        window: 512,
        query: "",
        passage: "",
        licence: "MIT",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "gte-modernbert-base",
        aliases: &["gte-modernbert"],
        hub: "Alibaba-NLP/gte-modernbert-base",
        family: "ModernBERT",
        pooling: "cls",
        dimensions: 768,
        is_matryoshka: false,
        window: 8192,
        query: "",
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "modernbert-embed-base",
        aliases: &[],
        hub: "nomic-ai/modernbert-embed-base",
        family: "ModernBERT",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: true,
        window: 8192,
        query: "search_query: ",
        passage: "search_document: ",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "nomic-embed-text-v1",
        aliases: &[],
        hub: "nomic-ai/nomic-embed-text-v1",
        family: "Nomic BERT",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: false,
        window: 8192,
        query: "search_query: ",
        passage: "search_document: ",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "nomic-embed-text-v1.5",
        aliases: &["nomic-embed-text", "nomic-embed-text:v1.5"],
        hub: "nomic-ai/nomic-embed-text-v1.5",
        family: "Nomic BERT",
        pooling: "mean",
        dimensions: 768,
        // Its shorter vectors want a layer norm before they are cut, which is not done here.
        is_matryoshka: false,
        window: 8192,
        query: "search_query: ",
        passage: "search_document: ",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "arctic-embed-xs",
        aliases: &["snowflake-arctic-embed:22m"],
        hub: "Snowflake/snowflake-arctic-embed-xs",
        family: "BERT",
        pooling: "cls",
        dimensions: 384,
        is_matryoshka: false,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "arctic-embed-s",
        aliases: &["snowflake-arctic-embed:33m"],
        hub: "Snowflake/snowflake-arctic-embed-s",
        family: "BERT",
        pooling: "cls",
        dimensions: 384,
        is_matryoshka: false,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "arctic-embed-m-v1.5",
        aliases: &["arctic-embed-m"],
        hub: "Snowflake/snowflake-arctic-embed-m-v1.5",
        family: "BERT",
        pooling: "cls",
        dimensions: 768,
        is_matryoshka: true,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "arctic-embed-l",
        aliases: &["snowflake-arctic-embed"],
        hub: "Snowflake/snowflake-arctic-embed-l",
        family: "BERT",
        pooling: "cls",
        dimensions: 1024,
        is_matryoshka: false,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "arctic-embed-l-v2.0",
        aliases: &["snowflake-arctic-embed2"],
        hub: "Snowflake/snowflake-arctic-embed-l-v2.0",
        family: "XLM-RoBERTa",
        pooling: "cls",
        dimensions: 1024,
        is_matryoshka: true,
        window: 8192,
        query: "query: ",
        passage: "",
        licence: "Apache-2.0",
        languages: MANY,
    },
    KnownEmbedder {
        name: "mxbai-embed-large-v1",
        aliases: &["mxbai-embed-large"],
        hub: "mixedbread-ai/mxbai-embed-large-v1",
        family: "BERT",
        pooling: "cls",
        dimensions: 1024,
        is_matryoshka: true,
        window: 512,
        query: SEARCH,
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "all-minilm-l12-v2",
        aliases: &[],
        hub: "sentence-transformers/all-MiniLM-L12-v2",
        family: "BERT",
        pooling: "mean",
        dimensions: 384,
        is_matryoshka: false,
        window: 128,
        query: "",
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "all-mpnet-base-v2",
        aliases: &["all-mpnet"],
        hub: "sentence-transformers/all-mpnet-base-v2",
        family: "MPNet",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: false,
        window: 384,
        query: "",
        passage: "",
        licence: "Apache-2.0",
        languages: ENGLISH,
    },
    KnownEmbedder {
        name: "paraphrase-multilingual-minilm-l12-v2",
        aliases: &["multilingual-minilm"],
        hub: "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        family: "BERT",
        pooling: "mean",
        dimensions: 384,
        is_matryoshka: false,
        window: 128,
        query: "",
        passage: "",
        licence: "Apache-2.0",
        languages: FIFTY,
    },
    KnownEmbedder {
        name: "paraphrase-multilingual-mpnet-base-v2",
        aliases: &["multilingual-mpnet"],
        hub: "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
        family: "XLM-RoBERTa",
        pooling: "mean",
        dimensions: 768,
        is_matryoshka: false,
        window: 128,
        query: "",
        passage: "",
        licence: "Apache-2.0",
        languages: FIFTY,
    },
    KnownEmbedder {
        name: "qwen3-embedding-0.6b",
        aliases: &["qwen3-embedding", "qwen3-embedding:0.6b"],
        hub: "Qwen/Qwen3-Embedding-0.6B",
        family: "Qwen3",
        pooling: "lasttoken",
        dimensions: 1024,
        is_matryoshka: true,
        window: 32_768,
        query: ASKED,
        passage: "",
        licence: "Apache-2.0",
        languages: MANY,
    },
];

/// Models that are not read here and have prompts all the same, for those who serve them: name, prompt of queries, prompt of
/// passages.
const SERVED: &[(&str, &str, &str)] = &[
    ("Snowflake/snowflake-arctic-embed-m", SEARCH, ""),
    ("Snowflake/snowflake-arctic-embed-m-long", SEARCH, ""),
    ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", ""),
    ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
    ("intfloat/multilingual-e5-large-instruct", ASKED_E5, ""),
    ("BAAI/bge-small-zh-v1.5", CHINESE, ""),
    ("BAAI/bge-base-zh-v1.5", CHINESE, ""),
    ("BAAI/bge-large-zh-v1.5", CHINESE, ""),
    ("Qwen/Qwen3-Embedding-4B", ASKED, ""),
    ("Qwen/Qwen3-Embedding-8B", ASKED, ""),
];

/// The embedding models of the hub that are known by name.
#[must_use]
pub fn known_embedders() -> &'static [KnownEmbedder] {
    KNOWN
}

/// The model of a name, an alias or a repository, in any case.
pub(super) fn find(name: &str) -> Option<&'static KnownEmbedder> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    KNOWN.iter().find(|model| is(model.name) || is(model.hub) || model.aliases.iter().any(|alias| is(alias)))
}

/// The prompts of a model that something else runs: an endpoint, or ONNX Runtime. Names are those of the hub, with or without
/// their owner, those of this table, and such with a tag behind a colon; for a name that nothing is known of there are none.
pub(crate) fn prompts_of(name: &str) -> Prompts {
    let bare = |name: &str| {
        let own = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        // As fastembed's copies are called.
        own.trim_end_matches("-onnx-q").trim_end_matches("-onnx").to_owned()
    };
    let own = bare(name);
    let untagged = own.split(':').next().unwrap_or_default();
    let served = |wanted: &str| SERVED.iter().find(|(known, ..)| bare(known) == wanted);
    let known = |wanted: &str| find(wanted).or_else(|| KNOWN.iter().find(|model| bare(model.hub) == wanted));
    for wanted in [own.as_str(), untagged] {
        if let Some(model) = known(wanted) {
            return model.prompts();
        }
        if let Some((_, query, passage)) = served(wanted) {
            return Prompts { query: (*query).to_owned(), passage: (*passage).to_owned() };
        }
    }
    Prompts::default()
}

impl KnownEmbedder {
    /// What stands before queries and passages.
    pub(crate) fn prompts(&self) -> Prompts {
        Prompts { query: self.query.to_owned(), passage: self.passage.to_owned() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;

    use super::{KNOWN, find, prompts_of};
    use crate::models::embedder_by_name;
    use crate::sentence::Pooling;

    #[test]
    fn the_table_holds_together() {
        let mut names = HashSet::new();
        for model in KNOWN {
            for name in [model.name, model.hub].iter().chain(model.aliases) {
                assert!(names.insert(name.to_ascii_lowercase()), "{name} is there twice");
                assert_eq!(find(name), Some(model));
            }
            assert!(!model.name.contains(['/', ':', ',']) && model.name == model.name.to_ascii_lowercase());
            assert!(model.hub.split('/').count() == 2 && Pooling::by_name(model.pooling).is_some(), "{}", model.name);
            assert!(model.dimensions.is_multiple_of(128) && model.window.is_multiple_of(64), "{}", model.name);
            assert!(!super::super::known().iter().any(|one| one.name == model.name));
        }
        assert!(embedder_by_name("bge-tiny").unwrap_err().to_string().contains("minilm, static, bge-small-en-v1.5"));
    }

    #[test]
    fn prompts_are_found_by_the_names_of_others() {
        for (name, query, passage) in [
            ("BAAI/bge-small-en-v1.5", super::SEARCH, ""),
            ("Qdrant/bge-small-en-v1.5-onnx-Q", super::SEARCH, ""),
            ("intfloat/multilingual-e5-large", "query: ", "passage: "),
            ("multilingual-e5-large", "query: ", "passage: "),
            ("bge-m3:latest", "", ""),
            ("mxbai-embed-large:335m", super::SEARCH, ""),
            ("snowflake-arctic-embed2", "query: ", ""),
            ("nomic-embed-text", "search_query: ", "search_document: "),
            ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
            ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
            ("intfloat/multilingual-e5-large-instruct", super::ASKED_E5, ""),
            ("BAAI/bge-large-zh-v1.5", super::CHINESE, ""),
            ("Qwen/Qwen3-Embedding-8B", super::ASKED, ""),
            ("text-embedding-3-small", "", ""),
        ] {
            let found = prompts_of(name);
            assert_eq!((found.query.as_str(), found.passage.as_str()), (query, passage), "{name}");
        }
    }
}
