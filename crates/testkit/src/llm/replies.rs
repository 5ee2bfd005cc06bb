use std::convert::Infallible;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::seen::{Act, Seen};

pub(super) fn respond(seen: &Seen, act: &Act, answer: &str) -> Response {
    match act {
        Act::Answer | Act::Slow(_) => good(seen, answer, "stop"),
        Act::Text(text) => good(seen, text, "stop"),
        Act::Fence => {
            good(seen, &format!("Certainly! Here {{you}} are:\n```json\n{answer}\n```\nAnything else?"), "stop")
        }
        Act::Truncated => good(seen, answer.get(..answer.len() / 2).unwrap_or_default(), "length"),
        Act::Refuse => good(seen, "I cannot help with that.", "refusal"),
        Act::Empty => good(seen, "", "stop"),
        Act::TooLong => error(400, "This model's maximum context length is 100 tokens.", "context_length_exceeded"),
        Act::Error(status, message) => error(*status, message, "invalid_request_error"),
        Act::Status(status) => text(*status, String::new()),
        Act::RetryAfter(wait) => {
            let mut response = error(429, "Slow down.", "rate_limit_exceeded");
            if let Ok(value) = HeaderValue::from_str(wait) {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
            response
        }
        Act::Billing => error(429, "You exceeded your current quota.", "insufficient_quota"),
        Act::EchoKey(status) => {
            let names = ["authorization", "x-api-key", "x-extra"];
            let keys: Vec<&str> = names.iter().filter_map(|name| seen.headers.get(*name)).map(String::as_str).collect();
            error(*status, &format!("Incorrect API key provided: {}.", keys.join(" ")), "invalid_api_key")
        }
        Act::Cut => broken(half(&chat(seen, answer, "stop").to_string())),
        Act::CutAfterUsage => {
            let whole = chat(seen, answer, "stop");
            let usage = whole.get("usage").cloned().unwrap_or_default();
            broken(format!("{{\"usage\": {usage}, \"choices\": [{{\"message\": "))
        }
        // An error before the first byte: nothing of the response has been sent.
        Act::Reset => Response::new(Body::from_stream(stream::iter([Err::<Bytes, _>(reset())]))),
        Act::Drip(pause) => {
            let (pause, whole) = (*pause, chat(seen, answer, "stop").to_string());
            let bytes = stream::iter(whole.into_bytes()).then(move |byte| async move {
                tokio::time::sleep(pause).await;
                Ok::<_, Infallible>(Bytes::from(vec![byte]))
            });
            Response::new(Body::from_stream(bytes))
        }
        Act::Endless => {
            let block = Bytes::from(vec![b' '; 64 << 10]);
            Response::new(Body::from_stream(stream::repeat_with(move || Ok::<_, Infallible>(block.clone()))))
        }
        Act::Usage(prompt, completion) => {
            let mut whole = if seen.path.ends_with("/messages") {
                messages(seen, answer, "stop")
            } else {
                chat(seen, answer, "stop")
            };
            let names = if seen.path.ends_with("/messages") {
                ["input_tokens", "output_tokens"]
            } else {
                ["prompt_tokens", "completion_tokens"]
            };
            for (name, number) in names.iter().zip([prompt, completion]) {
                whole["usage"][*name] = json!(number);
            }
            text(200, whole.to_string())
        }
        Act::Redirect(to) => {
            let mut response = text(302, String::new());
            if let Ok(value) = HeaderValue::from_str(to) {
                response.headers_mut().insert(header::LOCATION, value);
            }
            response
        }
        Act::Raw(status, body) => text(*status, body.clone()),
        Act::Garbage => text(200, "<html>not what you think</html>".into()),
    }
}

fn half(whole: &str) -> String {
    whole.get(..whole.len() / 2).unwrap_or_default().to_owned()
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

/// A response whose connection ends after `begun`.
fn broken(begun: String) -> Response {
    let parts = [Ok(Bytes::from(begun)), Err(reset())];
    // So that the first part is sent before the second is known.
    let parts = stream::iter(parts).enumerate().then(|(at, part)| async move {
        if at > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        part
    });
    Response::new(Body::from_stream(parts))
}

fn good(seen: &Seen, answer: &str, finish: &str) -> Response {
    let body = if seen.path.ends_with("/embeddings") {
        embeddings(&seen.body)
    } else if seen.path.ends_with("/messages") {
        messages(seen, answer, finish)
    } else {
        chat(seen, answer, finish)
    };
    text(200, body.to_string())
}

/// One token a word.
pub(super) fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn chat(seen: &Seen, answer: &str, finish: &str) -> Value {
    let refused = finish == "refusal";
    json!({
        "id": format!("chat-{}", seen.number),
        "model": seen.body.get("model"),
        "system_fingerprint": "fp_test",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": if refused { Value::Null } else { json!(answer) },
                "refusal": if refused { json!(answer) } else { Value::Null },
            },
            "finish_reason": if refused { "stop" } else { finish },
        }],
        "usage": {"prompt_tokens": words(&seen.prompt), "completion_tokens": words(answer)},
    })
}

fn messages(seen: &Seen, answer: &str, finish: &str) -> Value {
    let tool = seen.body.pointer("/tools/0/name");
    // As the service does, an answer by tool has its input parsed.
    let content = match (tool, serde_json::from_str::<Value>(answer)) {
        (Some(name), Ok(input)) => json!([{"type": "tool_use", "id": "t", "name": name, "input": input}]),
        _ if answer.is_empty() => json!([]),
        _ => json!([{"type": "text", "text": answer}]),
    };
    let reason = match finish {
        "length" => "max_tokens",
        "stop" if tool.is_some() => "tool_use",
        "stop" => "end_turn",
        other => other,
    };
    json!({
        "id": format!("msg-{}", seen.number),
        "model": seen.body.get("model"),
        "content": content,
        "stop_reason": reason,
        "usage": {"input_tokens": words(&seen.prompt), "output_tokens": words(answer), "cache_read_input_tokens": 2},
    })
}

/// Vectors of letters: the same text has the same vector, and other texts other ones.
fn embeddings(body: &Value) -> Value {
    let length = body.get("dimensions").and_then(Value::as_u64).unwrap_or(8).max(1);
    let inputs = body.get("input").and_then(Value::as_array).cloned().unwrap_or_default();
    let vector = |text: &str| -> Vec<f64> {
        let mut sums = vec![0.5; usize::try_from(length).unwrap_or(1)];
        let count = sums.len();
        for (at, byte) in text.bytes().enumerate() {
            if let Some(sum) = sums.get_mut((at + usize::from(byte)) % count) {
                *sum += f64::from(byte);
            }
        }
        sums
    };
    let data: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"index": index, "embedding": vector(text.as_str().unwrap_or_default())}))
        // Not every server keeps the order.
        .rev()
        .collect();
    json!({"data": data, "model": body.get("model"), "usage": {"prompt_tokens": inputs.len(), "total_tokens": inputs.len()}})
}

fn error(status: u16, message: &str, code: &str) -> Response {
    text(status, json!({"error": {"message": message, "type": "error", "code": code, "param": null}}).to_string())
}

fn text(status: u16, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert("x-request-id", HeaderValue::from_static("req-test"));
    response
}
