use tokenizers::Tokenizer;

use crate::request::{Message, Role};

/// Tokens that end an answer, in any family.
pub(super) const ENDS: &[&str] =
    &["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>"];

/// How a family writes a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Template {
    /// `<|im_start|>user ...<|im_end|>`: Qwen2, and models tuned in its way.
    ChatMl,
    /// The same, with an empty thought before the answer: Qwen3 answers at once.
    Qwen3,
    /// `<|start_header_id|>user<|end_header_id|>`: Llama 3.
    Llama3,
    /// `[INST] ... [/INST]`: Llama 2 and its kin.
    Llama2,
}

impl Template {
    /// By the tokens that the tokenizer has: they are what a model was tuned on.
    pub(super) fn of(architecture: &str, tokenizer: &Tokenizer) -> Self {
        let has = |token: &str| tokenizer.token_to_id(token).is_some();
        if has("<|start_header_id|>") {
            Self::Llama3
        } else if architecture == "qwen3" && has("<think>") {
            Self::Qwen3
        } else if has("<|im_start|>") || architecture.starts_with("qwen") {
            Self::ChatMl
        } else {
            Self::Llama2
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ChatMl => "chatml",
            Self::Qwen3 => "qwen3",
            Self::Llama3 => "llama3",
            Self::Llama2 => "llama2",
        }
    }

    /// True where texts begin with the token of beginnings.
    pub(super) fn begins_with_bos(self) -> bool {
        matches!(self, Self::Llama3 | Self::Llama2)
    }

    /// The conversation up to where the answer begins.
    pub(super) fn apply(self, messages: &[Message]) -> String {
        let mut out = String::new();
        let mut add = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
        match self {
            Self::ChatMl | Self::Qwen3 => {
                for message in messages {
                    add(&["<|im_start|>", message.role.name(), "\n", &message.content, "<|im_end|>\n"]);
                }
                add(&["<|im_start|>assistant\n"]);
                if self == Self::Qwen3 {
                    add(&["<think>\n\n</think>\n\n"]);
                }
            }
            Self::Llama3 => {
                for message in messages {
                    let role = message.role.name();
                    add(&["<|start_header_id|>", role, "<|end_header_id|>\n\n", message.content.trim(), "<|eot_id|>"]);
                }
                add(&["<|start_header_id|>assistant<|end_header_id|>\n\n"]);
            }
            Self::Llama2 => {
                let mut system = None;
                for message in messages {
                    match (message.role, system.take()) {
                        (Role::System, _) => system = Some(message.content.trim()),
                        (Role::User, Some(system)) => {
                            add(&["[INST] <<SYS>>\n", system, "\n<</SYS>>\n\n", message.content.trim(), " [/INST]"]);
                        }
                        (Role::User, None) => add(&["[INST] ", message.content.trim(), " [/INST]"]),
                        (Role::Assistant, _) => add(&[" ", message.content.trim(), " </s><s>"]),
                    }
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Template;
    use crate::request::{Message, Role};

    #[test]
    fn conversations() {
        let messages = [Message::new(Role::System, "s"), Message::new(Role::User, "u")];
        for (template, expected) in [
            (
                Template::ChatMl,
                "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n",
            ),
            (
                Template::Qwen3,
                "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
            ),
            (
                Template::Llama3,
                "<|start_header_id|>system<|end_header_id|>\n\ns<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nu<|eot_id|>\
                 <|start_header_id|>assistant<|end_header_id|>\n\n",
            ),
            (Template::Llama2, "[INST] <<SYS>>\ns\n<</SYS>>\n\nu [/INST]"),
        ] {
            assert_eq!(template.apply(&messages), expected);
        }
    }
}
