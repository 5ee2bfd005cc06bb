use serde_json::{Value, json};

use crate::request::Request;
use pericope_util::sha256_hex;

/// Name of a cached answer: SHA-256 over everything that could change it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey(String);

impl CacheKey {
    /// The key of a request to the provider of this `identity`, which takes these `parameters`. Keys of services have no
    /// part in it.
    pub(crate) fn of(identity: &Value, parameters: &Value, request: &Request) -> Self {
        let schema = request.schema.as_ref().map(|s| json!({"name": s.name, "schema": s.schema}));
        let whole = json!({
            // 1: without the parameters that an endpoint takes.
            "version": 2,
            "provider": identity,
            "parameters": parameters,
            "messages": request.messages,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "schema": schema,
            "vote": request.vote,
        });
        Self(sha256_hex(whole.to_string()))
    }

    /// The key of a text's vector.
    pub(crate) fn of_text(identity: &Value, text: &str) -> Self {
        let whole = json!({"version": 1, "embeddings": identity, "text": text});
        Self(sha256_hex(whole.to_string()))
    }

    /// Returns the SHA-256, hexadecimal.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::request::{Message, Role, Schema};

    fn request() -> Request {
        Request::new(vec![Message::new(Role::User, "hello")], 10)
    }

    #[test]
    fn everything_that_matters_changes_the_key() {
        let id = json!({"model": "m"});
        let none = Value::Null;
        let base = CacheKey::of(&id, &none, &request());
        assert_eq!(base, CacheKey::of(&id, &none, &request()));
        let mut others = vec![CacheKey::of(&json!({"model": "n"}), &none, &request())];
        others.push(CacheKey::of(&id, &json!({"seed": false}), &request()));
        let mut change = |f: &dyn Fn(&mut Request)| {
            let mut changed = request();
            f(&mut changed);
            others.push(CacheKey::of(&id, &none, &changed));
        };
        change(&|r| r.vote = 1);
        change(&|r| r.seed = Some(1));
        change(&|r| r.seed = Some(2));
        change(&|r| r.max_tokens = 11);
        change(&|r| r.temperature = 0.5);
        change(&|r| r.messages = vec![Message::new(Role::System, "hello")]);
        change(&|r| r.messages = vec![Message::new(Role::User, "hell"), Message::new(Role::User, "o")]);
        change(&|r| r.schema = Some(Schema { name: "s".into(), schema: json!({}) }));
        change(&|r| r.schema = Some(Schema { name: "s".into(), schema: json!({"type": "object"}) }));
        others.push(base);
        let count = others.len();
        assert_eq!(others.into_iter().collect::<HashSet<_>>().len(), count);
    }
}
