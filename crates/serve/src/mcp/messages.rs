//! Messages that are none: a client that waits for their answer is told so, by JSON-RPC's own codes.

use std::borrow::Cow;

use rmcp::model::{ClientJsonRpcMessage, InitializeRequestParams};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const NO_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const WRONG_PARAMETERS: i32 = -32602;
const OUR_FAULT: i32 = -32603;

/// The mark of byte order that some shells put before what they pass on.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A fault of a message: its code, and what it is.
type Fault = (i32, Cow<'static, str>);

/// Returns the answer to a message that the protocol cannot read; `None` for all others. What nobody waits for has none.
pub(super) fn refusal(message: &[u8]) -> Option<Value> {
    let message = message.strip_prefix(MARK).unwrap_or(message);
    if message.trim_ascii().is_empty() {
        return None;
    }
    match serde_json::from_slice(message) {
        Ok(Value::Object(request)) => {
            let id = request.get("id")?;
            let (code, why) = wrong(&request).or_else(|| unread(&request, message))?;
            Some(error(id, code, &why))
        }
        Ok(_) => Some(error(&Value::Null, NO_REQUEST, "a message is one JSON object")),
        Err(problem) => Some(error(&Value::Null, NO_JSON, &format!("the message is no JSON: {problem}"))),
    }
}

/// Returns the answer to what was refused for other reasons than the message itself; `ours` where the fault is.
pub(super) fn refused(ours: bool, why: &str) -> Value {
    error(&Value::Null, if ours { OUR_FAULT } else { NO_REQUEST }, why)
}

/// What is wrong with a request that has an id.
fn wrong(request: &Map<String, Value>) -> Option<Fault> {
    let parameters = |why: &'static str| -> Option<Fault> { Some((WRONG_PARAMETERS, why.into())) };
    let other = |why: &'static str| -> Option<Fault> { Some((NO_REQUEST, why.into())) };
    let Some(method) = request.get("method") else {
        // An answer of the client's to a question of ours.
        let is_answer = ["result", "error"].iter().any(|key| request.contains_key(*key));
        return if is_answer { None } else { other("`method` is missing") };
    };
    let Some(method) = method.as_str() else { return other("`method` is a text") };
    if request.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return other("`jsonrpc` is \"2.0\"");
    }
    if !request.get("id").is_some_and(|id| id.is_string() || id.is_i64()) {
        return other("`id` is a text or a whole number");
    }
    let params = match request.get("params") {
        None | Some(Value::Null) => None,
        Some(Value::Object(params)) => Some(params),
        Some(_) => return parameters("`params` is an object"),
    };
    if params.and_then(|params| params.get("_meta")).is_some_and(|meta| !(meta.is_object() || meta.is_null())) {
        return parameters("`params._meta` is an object");
    }
    match (method, params) {
        ("initialize", params) => {
            let params = params.cloned().unwrap_or_default();
            let problem = InitializeRequestParams::deserialize(Value::Object(params)).err()?;
            Some((WRONG_PARAMETERS, format!("the parameters of initialize: {problem}").into()))
        }
        ("tools/call", None) => parameters("tools/call has `params`: `name` and `arguments`"),
        ("tools/call", Some(params)) if !params.get("name").is_some_and(Value::is_string) => {
            parameters("`params.name` is the name of a tool")
        }
        ("tools/call", Some(params)) => match params.get("arguments") {
            None | Some(Value::Null | Value::Object(_)) => None,
            Some(_) => parameters("`params.arguments` is an object"),
        },
        _ => None,
    }
}

/// What the protocol's own reader finds wrong with a request: its answer would leave the id out.
fn unread(request: &Map<String, Value>, message: &[u8]) -> Option<Fault> {
    let read = serde_json::from_slice::<ClientJsonRpcMessage>(message);
    (request.contains_key("method") && read.is_err()).then(|| (NO_REQUEST, "it is no request of the protocol".into()))
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_cannot_be_read_is_answered_with_the_id_that_it_has() {
        for (message, code, id) in [
            ("{\"jsonrpc\": \"2.0\", \"id\": 1,", NO_JSON, json!(null)),
            ("3", NO_REQUEST, json!(null)),
            (r#"{"id": 4, "method": "tools/list"}"#, NO_REQUEST, json!(4)),
            (r#"{"jsonrpc": "2.0", "id": "a", "method": 5}"#, NO_REQUEST, json!("a")),
            (r#"{"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": []}"#, WRONG_PARAMETERS, json!(5)),
            (r#"{"jsonrpc": "2.0", "id": 6, "method": "tools/call"}"#, WRONG_PARAMETERS, json!(6)),
            (r#"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}"#, WRONG_PARAMETERS, json!(7)),
            (
                r#"{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "list", "arguments": []}}"#,
                WRONG_PARAMETERS,
                json!(8),
            ),
        ] {
            let answer = refusal(message.as_bytes()).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{message}");
        }
        // The protocol's own reader would leave the id out of its answer, and the client waiting.
        for (message, code, id) in [
            (r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#, NO_REQUEST, json!(null)),
            (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, NO_REQUEST, json!(null)),
            (r#"{"jsonrpc": "2.0", "id": 9}"#, NO_REQUEST, json!(9)),
            (r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#, NO_REQUEST, json!(1.5)),
            (r#"{"jsonrpc": "2.0", "id": 9223372036854775808, "method": "ping"}"#, NO_REQUEST, json!(1_u64 << 63)),
            (r#"{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}"#, NO_REQUEST, json!(2)),
            (
                r#"{"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": 5}}"#,
                WRONG_PARAMETERS,
                json!(3),
            ),
            (
                r#"{"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}"#,
                WRONG_PARAMETERS,
                json!(4),
            ),
        ] {
            let answer = refusal(message.as_bytes()).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{message}");
        }
        for fine in [
            "\n",
            r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list"}}"#,
            r#"{"jsonrpc": "2.0", "method": "notifications/initialized", "params": 3}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "not/known", "params": {"_meta": {"progressToken": 1}}}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
               {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}"#,
            "\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}",
        ] {
            assert_eq!(refusal(fine.as_bytes()), None, "{fine}");
        }
        assert!(refusal(b"{\"a\": \"\xff\"}").is_some());
    }
}
