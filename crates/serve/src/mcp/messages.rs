//! Messages that are none: a client that waits for their answer is told so, by JSON-RPC's own codes.

use serde_json::{Map, Value, json};

const NO_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const WRONG_PARAMETERS: i32 = -32602;

/// Returns the answer to a message that the protocol cannot read; `None` for all others. What nobody waits for has none.
pub(super) fn refusal(message: &[u8]) -> Option<Value> {
    if message.trim_ascii().is_empty() {
        return None;
    }
    match serde_json::from_slice(message) {
        Ok(Value::Object(request)) => {
            let id = request.get("id").filter(|id| id.is_string() || id.is_number())?;
            let (code, why) = wrong(&request)?;
            Some(error(id, code, why))
        }
        Ok(Value::Array(_)) => None,
        Ok(_) => Some(error(&Value::Null, NO_REQUEST, "a message is a JSON object")),
        Err(problem) => Some(error(&Value::Null, NO_JSON, &format!("the message is no JSON: {problem}"))),
    }
}

/// What is wrong with a request that has an id.
fn wrong(request: &Map<String, Value>) -> Option<(i32, &'static str)> {
    // An answer of the client's to a question of ours.
    let method = request.get("method")?;
    let Some(method) = method.as_str() else { return Some((NO_REQUEST, "`method` is a text")) };
    if request.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some((NO_REQUEST, "`jsonrpc` is \"2.0\""));
    }
    let params = match request.get("params") {
        None | Some(Value::Null) => None,
        Some(Value::Object(params)) => Some(params),
        Some(_) => return Some((WRONG_PARAMETERS, "`params` is an object")),
    };
    if method != "tools/call" {
        return None;
    }
    let Some(params) = params else {
        return Some((WRONG_PARAMETERS, "tools/call has `params`: `name` and `arguments`"));
    };
    if !params.get("name").is_some_and(Value::is_string) {
        return Some((WRONG_PARAMETERS, "`params.name` is the name of a tool"));
    }
    match params.get("arguments") {
        None | Some(Value::Null | Value::Object(_)) => None,
        Some(_) => Some((WRONG_PARAMETERS, "`params.arguments` is an object")),
    }
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
        for fine in [
            "\n",
            r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list"}}"#,
            r#"{"jsonrpc": "2.0", "method": "notifications/initialized", "params": 3}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#,
        ] {
            assert_eq!(refusal(fine.as_bytes()), None, "{fine}");
        }
        assert!(refusal(b"{\"a\": \"\xff\"}").is_some());
    }
}
