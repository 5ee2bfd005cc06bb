//! The meaning of a server's error. Servers that speak the same API word their errors differently.

use std::time::{Duration, SystemTime};

use pericope_net::ureq::http::HeaderMap;
use pericope_util::short_line;
use serde_json::Value;

/// A response whose status is no success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub status: u16,
    /// The server's message, on one line.
    pub message: String,
    /// `error.code`, or where that is missing `error.type`.
    pub code: String,
    /// `error.param`.
    pub param: String,
}

/// The kinds of errors that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Try again later.
    Retry,
    /// No money, no quota.
    Billing,
    /// 401, 403.
    Denied,
    /// 404, redirections.
    NotFound,
    /// The prompt is too long.
    ContextLength,
    /// The request is not taken as it is.
    Rejected,
}

const BILLING_CODES: &[&str] = &[
    "insufficient_quota",
    "credit_balance_exhausted",
    "insufficient_credits",
    "insufficient_balance",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "budget_exceeded",
    "spend_limit_exceeded",
    "quota_exhausted",
];
const BILLING_WORDS: &[&str] = &[
    "credit balance",
    "insufficient balance",
    "insufficient credits",
    "insufficient funds",
    "spend limit",
    "spending limit",
];

/// Each line: words that are all in the message of one server (OpenAI, Azure, vLLM, SGLang, llama.cpp, Ollama, TGI,
/// Anthropic, Mistral, Gemini, Groq, xAI, Bedrock, Cohere, LM Studio) when a prompt is too long.
const TOO_LONG: &[&[&str]] = &[
    &["context_length_exceeded"],
    &["maximum context length"],
    &["context window"],
    &["exceed", "context size"],
    &["exceed_context_size"],
    &["exceed", "context length"],
    &["exceed", "context limit"],
    &["exceed", "max_model_len"],
    &["longer than the model's context length"],
    &["longer than the maximum model length"],
    &["prompt is too long"],
    &["tokens + `max_new_tokens` must be"],
    &["`inputs` must have less than"],
    &["too large for model with", "context"],
    &["input token count", "exceeds"],
    &["reduce the length of the messages"],
    &["maximum prompt length"],
    &["input is too long for requested model"],
    &["too many tokens", "tokens in the prompt"],
    &["context the overflows"],
];

impl ApiError {
    /// Reads an error's body: `{"error": {"message", "type", "code", "param"}}`, `{"error": "..."}`, `{"message": ...}`,
    /// `{"detail": ...}`, or any text. `clean` takes keys out; it sees each text after the last escape is undone and
    /// before anything is cut off.
    pub(crate) fn read(status: u16, body: &str, clean: &dyn Fn(&str) -> String) -> Self {
        let whole: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        // Gemini wraps the object in a list.
        let whole = whole.get(0).unwrap_or(&whole);
        let error = whole.get("error").unwrap_or(whole);
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Array(_) | Value::Object(_) => Some(value.to_string()),
            _ => None,
        };
        let field = |name: &str| error.get(name).and_then(text);
        let message = field("message")
            .or_else(|| field("detail"))
            .or_else(|| error.as_str().map(str::to_owned))
            .or_else(|| whole.get("detail").and_then(text))
            .unwrap_or_else(|| without_tags(&clean(body)));
        let message = short_line(&clean(&message), 600);
        let named = |code: &String| code.parse::<i64>().is_err();
        let code = field("code").filter(named).or_else(|| field("type")).unwrap_or_default();
        Self {
            status,
            message: if message.is_empty() { "no reason given".to_owned() } else { message },
            code: short_line(&clean(&code), 100).to_lowercase(),
            param: short_line(&clean(&field("param").unwrap_or_default()), 100),
        }
    }

    /// Returns the kind, by the status and the server's words.
    pub(crate) fn kind(&self) -> ErrorKind {
        let message = self.message.to_lowercase();
        let says = |words: &[&str]| words.iter().all(|word| message.contains(word));
        let long = self.code.contains("context_length") || self.code.contains("exceed_context_size");
        let too_long = || long || TOO_LONG.iter().any(|words| says(words));
        let billing =
            || BILLING_CODES.contains(&self.code.as_str()) || BILLING_WORDS.iter().any(|words| message.contains(words));
        match self.status {
            402 => ErrorKind::Billing,
            400 | 403 | 429 if billing() => ErrorKind::Billing,
            401 | 403 => ErrorKind::Denied,
            300..=399 | 404 | 405 | 410 => ErrorKind::NotFound,
            // Older llama.cpp and Ollama call it their own failure.
            400 | 413 | 422 | 500 if too_long() => ErrorKind::ContextLength,
            408 | 409 | 425 | 429 => ErrorKind::Retry,
            // It will not work the second time either, but perhaps without the format.
            500 | 501 if self.blames_format() => ErrorKind::Rejected,
            500..=599 => ErrorKind::Retry,
            _ => ErrorKind::Rejected,
        }
    }

    /// Returns true where the server does not know `response_format`, or not this kind.
    pub(crate) fn blames_format(&self) -> bool {
        const WORDS: &[&str] = &[
            "response_format",
            "json_schema",
            "json_object",
            "structured output",
            "structured_output",
            "grammar",
            "guided",
            "tool_choice",
            "output_config",
        ];
        self.names(WORDS)
    }

    /// Returns true where the server does not take the parameter.
    pub(crate) fn blames(&self, parameter: &str) -> bool {
        if self.param == parameter {
            return true;
        }
        const REASONS: &[&str] = &[
            "not support",
            "unsupported",
            "not allowed",
            "not permitted",
            "deprecated",
            "unknown",
            "unrecognized",
            "unexpected",
            "extra",
            "only the default",
            "invalid",
            "use '",
            "instead",
        ];
        self.names(&[parameter]) && self.names(REASONS)
    }

    fn names(&self, words: &[&str]) -> bool {
        let (message, param) = (self.message.to_lowercase(), self.param.to_lowercase());
        words.iter().any(|word| message.contains(word) || param.contains(word))
    }
}

/// Returns the text of a gateway's HTML page.
fn without_tags(body: &str) -> String {
    let mut inside = false;
    body.chars()
        .take(20_000)
        .filter_map(|c| match c {
            '<' => {
                inside = true;
                Some(' ')
            }
            '>' if inside => {
                inside = false;
                None
            }
            _ => (!inside).then_some(c),
        })
        .collect()
}

/// Returns the pause that the server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str, scale: f64| {
        let number: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(number / scale).ok()
    };
    if let Some(wait) = header("retry-after-ms").and_then(|text| seconds(text, 1000.0)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    seconds(text, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        // A date in the past is "now".
        Some(date.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> ApiError {
        ApiError::read(status, body, &str::to_owned)
    }

    fn kind(status: u16, body: &str) -> ErrorKind {
        read(status, body).kind()
    }

    fn openai(message: &str, kind: &str, code: &str) -> String {
        serde_json::json!({"error": {"message": message, "type": kind, "code": code, "param": null}}).to_string()
    }

    #[test]
    fn too_long_in_every_dialect() {
        for (status, message) in [
            (
                400,
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            ),
            (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
            (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
            (400, "the request exceeds the available context size, try increasing it"),
            (500, "the request exceeds the available context size. try increasing the context size"),
            (400, "the input length exceeds the context length"),
            (400, "prompt is too long: 210000 tokens > 200000 maximum"),
            (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
            (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
            (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"),
            (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
            (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
            (400, "Please reduce the length of the messages or completion."),
            (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
            (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
            (400, "Trying to keep the first 5000 tokens when context the overflows."),
        ] {
            assert_eq!(
                kind(status, &openai(message, "invalid_request_error", "")),
                ErrorKind::ContextLength,
                "{message}"
            );
            let anthropic =
                serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
            assert_eq!(kind(status, &anthropic.to_string()), ErrorKind::ContextLength, "{message}");
        }
        assert_eq!(
            kind(400, &openai("no", "invalid_request_error", "context_length_exceeded")),
            ErrorKind::ContextLength
        );
        assert_eq!(kind(400, &openai("messages must not be empty", "", "")), ErrorKind::Rejected);
        assert_eq!(kind(429, &openai("too many tokens per minute in the context window", "", "")), ErrorKind::Retry);
    }

    #[test]
    fn statuses() {
        for (status, body, expected) in [
            (429, openai("slow down", "requests", "rate_limit_exceeded"), ErrorKind::Retry),
            // The code counts where type and code disagree.
            (429, openai("slow down", "insufficient_quota", "rate_limit_exceeded"), ErrorKind::Retry),
            (
                429,
                openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
                ErrorKind::Billing,
            ),
            (429, openai("You exceeded your current quota", "insufficient_quota", ""), ErrorKind::Retry),
            (
                400,
                openai("Your credit balance is too low to access the API", "invalid_request_error", ""),
                ErrorKind::Billing,
            ),
            (402, openai("Insufficient Balance", "", ""), ErrorKind::Billing),
            (401, openai("Incorrect API key", "", "invalid_api_key"), ErrorKind::Denied),
            (403, "<html><h1>Forbidden</h1></html>".into(), ErrorKind::Denied),
            (404, openai("model not found", "", "model_not_found"), ErrorKind::NotFound),
            (301, String::new(), ErrorKind::NotFound),
            (408, String::new(), ErrorKind::Retry),
            (409, String::new(), ErrorKind::Retry),
            (500, "oops".into(), ErrorKind::Retry),
            (502, "<html>Bad gateway</html>".into(), ErrorKind::Retry),
            (503, openai("overloaded", "", "server_is_overloaded"), ErrorKind::Retry),
            (504, String::new(), ErrorKind::Retry),
            (529, openai("Overloaded", "overloaded_error", ""), ErrorKind::Retry),
            (500, openai("response_format.type json_schema is not known", "", ""), ErrorKind::Rejected),
            (413, openai("too large", "", ""), ErrorKind::Rejected),
            (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#.into(), ErrorKind::Rejected),
            (400, String::new(), ErrorKind::Rejected),
        ] {
            assert_eq!(kind(status, &body), expected, "{status} {body}");
        }
        // An empty code string is no code: the type is read, which says it.
        let typed = r#"{"error":{"message":"quota","type":"insufficient_quota"}}"#;
        assert_eq!(kind(429, typed), ErrorKind::Billing);
    }

    #[test]
    fn bodies_of_all_kinds() {
        let message = |body: &str| read(500, body).message;
        assert_eq!(message(r#"{"error":"plain"}"#), "plain");
        assert_eq!(message(r#"{"message":"m"}"#), "m");
        assert_eq!(message(r#"{"detail":"d"}"#), "d");
        assert_eq!(message(r#"[{"error":{"code":400,"message":"g","status":"INVALID_ARGUMENT"}}]"#), "g");
        assert_eq!(message("<html><body><h1>502</h1>\nBad Gateway</body></html>"), "502 Bad Gateway");
        assert_eq!(message(""), "no reason given");
        assert!(message(&"x".repeat(5_000)).len() < 700);
    }

    #[test]
    fn keys_are_out_of_every_field_of_every_kind_of_body() {
        let clean =
            |text: &str| ["k/1", "K/1", "k /1"].iter().fold(text.to_owned(), |t, key| t.replace(key, "[hidden]"));
        for body in [
            r#"{"error":{"message":"bad k\/1","code":"k\/1","param":"k\u002f1"}}"#,
            r#"{"error":"bad k\u002F1"}"#,
            r#"{"detail":[{"msg":"k\/1"}]}"#,
            r#"[{"error":{"message":{"nested":"k\/1"},"type":"K\/1"}}]"#,
            "<html>bad k<b>/1</b></html>",
            "bad k/1",
        ] {
            let error = ApiError::read(400, body, &clean);
            let shown = format!("{error:?}").to_lowercase();
            assert!(!shown.contains("k/1") && error.message.contains("[hidden]"), "{error:?}");
        }
        // Nothing is cut off in the middle of a key.
        let error = ApiError::read(400, &format!("{}k/1", "x".repeat(598)), &clean);
        assert!(!error.message.contains('k'), "{}", error.message);
    }

    #[test]
    fn blamed_parameters() {
        let says = |message: &str| read(400, &openai(message, "", ""));
        let o1 = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert!(says(o1).blames("max_tokens"));
        let t = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
        assert!(says(t).blames("temperature") && !says(t).blames("seed"));
        assert!(!says("messages: too few").blames("max_tokens"));
        assert!(says("Either \"json_schema\" or \"grammar\" can be specified, but not both").blames_format());
    }

    #[test]
    fn waits() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let wait = |name: &'static str, value: &str| {
            retry_after(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]), now)
        };
        assert_eq!(wait("retry-after", "3"), Some(Duration::from_secs(3)));
        assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("retry-after", "-1"), None);
        assert_eq!(wait("retry-after", "soon"), None);
        assert_eq!(wait("x-other", "1"), None);
    }
}
