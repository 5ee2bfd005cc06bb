use super::model::LanguageModel;
use super::passages::Unit;
use super::segmenter::{DEFAULT_TOKENS, LlmSegmenter};
use crate::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};

/// The settings that say whom to ask and not what: the same chunks come from another address of the same model.
const WAYS: [&str; 3] = ["config", "base_url", "api_key_env"];

/// The registry's entry.
pub const LLM: SegmenterEntry = SegmenterEntry {
    name: "llm",
    summary: "a language model says where the content shifts, group by group (Duarte et al. 2024)",
    keys: &[
        SettingKey {
            name: "config",
            default: "",
            doc: "a file with a table [llm.segmenter]; an experiment has the table itself",
        },
        SettingKey { name: "model", default: "", doc: "the model's name, or the path of a GGUF file" },
        SettingKey { name: "provider", default: "", doc: "openai (any server that speaks its API), anthropic, candle" },
        SettingKey { name: "base_url", default: "", doc: "the address of the API: http://127.0.0.1:11434/v1" },
        SettingKey { name: "api_key_env", default: "", doc: "the environment variable that holds the key" },
        SettingKey { name: "tokens", default: "550", doc: "a group of passages ends when it has so many tokens" },
        SettingKey { name: "unit", default: "paragraph", doc: "what is numbered: paragraph, sentence" },
    ],
    example: "llm:model=qwen2.5:7b,base_url=http://127.0.0.1:11434/v1",
    needs: Needs::LanguageModel,
    needs_of: None,
    has_scores: false,
    build: |args, resources| {
        let tokens = args.count("tokens", DEFAULT_TOKENS, 2)?;
        let unit = Unit::at(args.choice("unit", &Unit::WORDS)?);
        let model = LanguageModel::of(args.spec());
        args.before_files()?;
        let finder = resources.shift_finder(&model).map_err(|reason| args.unavailable(reason))?;
        let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
        let mut resolved = args.spec().clone();
        resolved.args.retain(|key, _| !WAYS.contains(&key.as_str()));
        Ok(BuiltSegmenter::new(LlmSegmenter::new(finder, counter, tokens, unit)).resolved(resolved))
    },
};
