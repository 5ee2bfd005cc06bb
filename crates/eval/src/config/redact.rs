//! The configuration as files and pages show it: without what may be secret in it.

use serde_json::Value;

use super::Experiment;
use pericope_util::sha256_hex;

/// Stands for what is not even told apart: who logs in, what a command is called with.
const HIDDEN: &str = "(hidden)";
/// Parts of paths that services have in common. Anything else in the path of an address may be a secret.
const KNOWN: [&str; 9] =
    ["api", "openai", "inference", "compatible-mode", "chat", "completions", "models", "engines", "rerank"];
/// Words before a key in a header.
const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Token", "ApiKey"];

/// An experiment as JSON, redacted ([`redact`]).
pub(crate) fn redacted(experiment: &Experiment) -> Value {
    let mut config = serde_json::to_value(experiment).unwrap_or_default();
    redact(&mut config);
    config
}

/// Hides what may be secret in an experiment as JSON: values of headers, what addresses hold beside host and usual paths,
/// and what the command of `nightly.on_finish` is called with. A reference to an environment variable is no secret, and
/// stays. Of other values a checksum stays, to tell them apart. What is redacted already stays as it is.
pub fn redact(config: &mut Value) {
    hide("", config);
    // Values to try stand under the keys that they are for.
    if let Some(sweep) = config.get_mut("sweep").and_then(Value::as_object_mut) {
        for (key, values) in sweep {
            values.as_array_mut().into_iter().flatten().for_each(|value| hide(key, value));
        }
    }
}

/// Hides what may be secret in the value of a dotted key.
pub(crate) fn hide(key: &str, value: &mut Value) {
    let parts: Vec<&str> = key.split('.').collect();
    match parts.as_slice() {
        ["llm", _, "headers", ..] => texts(value, &text),
        ["llm", _, "base_url", ..] | ["nightly", "url" | "webhook", ..] => texts(value, &address),
        ["retrieval", "in", ..] => texts(value, &place),
        ["retrieval", "retriever", ..] => texts(value, &shown_retriever),
        ["retrieval", "rerank", ..] | ["chunker", _, "rerank", ..] => texts(value, &shown_reranker),
        ["chunker"] => {
            for spec in value.as_array_mut().into_iter().flatten().filter_map(|one| one.get_mut("rerank")) {
                texts(spec, &shown_reranker);
            }
        }
        ["retriever", ..] => {
            for spec in value.as_array_mut().into_iter().flatten().filter_map(|one| one.get_mut("spec")) {
                texts(spec, &shown_retriever);
            }
        }
        ["nightly", "on_finish", ..] => match value {
            // The program itself is no secret.
            Value::Array(words) => words.iter_mut().skip(1).for_each(|word| texts(word, &|_| HIDDEN.to_owned())),
            other => texts(other, &|_| HIDDEN.to_owned()),
        },
        _ => {
            let Some(table) = value.as_object_mut() else { return };
            for (name, inner) in table {
                hide(&if key.is_empty() { name.clone() } else { format!("{key}.{name}") }, inner);
            }
        }
    }
}

/// Changes every text in a value.
fn texts(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(list) => list.iter_mut().for_each(|one| texts(one, change)),
        Value::Object(table) => table.values_mut().for_each(|one| texts(one, change)),
        _ => {}
    }
}

/// A text of which the references to variables stay: `${KEY}` of `sk-1 ${KEY:-sk-2}`, with checksums for the rest.
fn text(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, name, default, after)) = reference(rest) {
        out.push_str(&literal(before));
        // What stands in for a variable that is not set may be secret too.
        out.push_str(&if default { format!("${{{name}:-{HIDDEN}}}") } else { format!("${{{name}}}") });
        rest = after;
    }
    out + &literal(rest)
}

/// The first reference to a variable: what stands before it, its name, whether it has a default, and what comes after.
fn reference(text: &str) -> Option<(&str, &str, bool, &str)> {
    text.match_indices("${").find_map(|(at, mark)| {
        let (inner, after) = text.get(at + mark.len()..)?.split_once('}')?;
        let (name, default) = inner.split_once(":-").map_or((inner, false), |(name, _)| (name, true));
        is_name(name).then_some((text.get(..at)?, name, default, after))
    })
}

/// Whether a text can be the name of an environment variable.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A text without references: its checksum, where it says anything.
fn literal(text: &str) -> String {
    let word = text.trim();
    if word.is_empty() || SCHEMES.contains(&word) || is_sum(word) {
        return text.to_owned();
    }
    let (before, after) = text.split_once(word).unwrap_or_default();
    format!("{before}{}{after}", sum(word))
}

/// An address: its host and the usual parts of its path.
fn address(address: &str) -> String {
    let Some((server, rest)) = server(address) else { return text(address) };
    let known = |part: &str| part.is_empty() || KNOWN.contains(&part) || is_version(part) || is_plain(part);
    let path = rest.strip_prefix('/').unwrap_or(rest);
    if rest.is_empty() || (rest.starts_with('/') && path.split('/').all(known)) {
        return format!("{server}{rest}");
    }
    format!("{server}/{}", sum(rest))
}

/// A retriever's spec: addresses as anywhere, and a command as it is, since nothing secret belongs into one.
pub(crate) fn shown_retriever(spec: &str) -> String {
    match spec.trim_start() {
        spec if spec.starts_with("command:") || spec.starts_with("memrecall") || spec == "custom" => spec.to_owned(),
        spec if spec.starts_with("qdrant") => place(spec),
        spec => address(spec),
    }
}

/// A reranker's spec: an address as anywhere, with the settings behind it, which hold nothing secret.
pub(crate) fn shown_reranker(spec: &str) -> String {
    if !spec.trim_start().starts_with("http") || !spec.contains("://") {
        return spec.to_owned();
    }
    let key = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let plain = |value: &str| value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-".contains(&b));
    let setting =
        |pair: &str| pair.split_once('=').is_some_and(|(name, value)| key(name.trim()) && plain(value.trim()));
    // What is no setting belongs to the address.
    match spec.split_once(',') {
        Some((url, settings)) if settings.split(',').all(setting) => format!("{},{settings}", address(url)),
        _ => address(spec),
    }
}

/// The address of a collection on a server: its settings stay, since they are numbers and short words.
fn place(place: &str) -> String {
    let Some((server, rest)) = server(place) else { return text(place) };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let short = |word: &str| word.len() <= 24 && word.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    let setting = |pair: &str| pair.split_once('=').is_some_and(|(key, value)| short(key) && short(value));
    if query.is_empty() || (!query.contains("key") && query.split('&').all(setting)) || is_sum(query) {
        return format!("{server}{rest}");
    }
    format!("{server}{path}?{}", sum(query))
}

/// Scheme and host of an address, without who logs in; and the rest.
fn server(address: &str) -> Option<(String, &str)> {
    let (scheme, after) = address.split_once("://")?;
    if !scheme.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    let server = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{HIDDEN}@{host}"),
        None => format!("{scheme}://{authority}"),
    };
    // A name or number of a host has none of these: it would be a variable that was cut in two.
    (!server.contains(['{', '}']) || is_plain(authority)).then_some((server, rest))
}

/// `v1`, `v1beta`.
fn is_version(part: &str) -> bool {
    let Some(rest) = part.strip_prefix('v') else { return false };
    let number = rest.trim_end_matches("alpha").trim_end_matches("beta");
    !number.is_empty() && number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit())
}

/// What holds nothing but a reference or a checksum.
fn is_plain(part: &str) -> bool {
    let reference = part.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    is_sum(part) || reference.is_some_and(is_name)
}

/// A checksum that tells a hidden text apart from others.
fn sum(text: &str) -> String {
    if is_sum(text) { text.to_owned() } else { format!("(sha256 {})", sha256_hex(text).get(..12).unwrap_or_default()) }
}

fn is_sum(text: &str) -> bool {
    let inner = text.strip_prefix("(sha256 ").and_then(|rest| rest.strip_suffix(')'));
    inner.is_some_and(|sum| sum.len() == 12 && sum.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The address as it may be published: without who logs in.
#[must_use]
pub fn without_login(address: &str) -> String {
    let Some((scheme, after)) = address.split_once("://") else { return address.to_owned() };
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{rest}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const SECRET: &str = "hunter2-SECRET";

    fn config() -> Value {
        json!({
            "name": "x",
            "retrieval": {
                "in": format!("qdrant://u:{SECRET}@h:6334/eval?shards=2"),
                "rerank": format!("https://u:{SECRET}@r.example/v2/rerank?k={SECRET},model=m"),
            },
            "chunker": [
                {"name": "a", "rerank": format!("https://r.example/v1/rerank,model=m:1,x={SECRET}/")},
                {"name": "b", "rerank": "https://r.example/v1/rerank,model=m:1"},
                {"name": "c", "rerank": "cross-encoder:model=/models/a,max_tokens=9"},
            ],
            "llm": {
                "generator": {
                    "base_url": format!("https://a.example/v1/{SECRET}/chat"),
                    "headers": {"A": format!("{SECRET} ${{KEY}}"), "B": "Bearer ${KEY}", "C": format!("${{K:-{SECRET}}}")},
                },
                "judge": {"base_url": format!("https://me:{SECRET}@a.example:8443/openai/v1?code={SECRET}")},
            },
            "nightly": {
                "url": format!("https://u:{SECRET}@ci.example/nights/"),
                "webhook": format!("https://hooks.example/{SECRET}"),
                "on_finish": ["curl", "-H", format!("Authorization: Bearer {SECRET}")],
            },
            "sweep": {
                "llm.judge.base_url": [format!("https://b.example/{SECRET}/v1"), "https://b.example/v1"],
                "llm.generator": [{"headers": {"A": SECRET}}],
                "nightly.on_finish": [["sh", SECRET], SECRET],
                "chunker.a.rerank": ["none", format!("http://h/{SECRET}")],
            },
        })
    }

    #[test]
    fn hosts_and_variables_stay_and_secrets_do_not() {
        let mut shown = config();
        redact(&mut shown);
        let text = shown.to_string();
        assert!(!text.contains(SECRET), "{text}");
        let at = |pointer: &str| shown.pointer(pointer).and_then(Value::as_str).unwrap_or("none").to_owned();
        let sum_of = |text: &str| sum(text);
        assert_eq!(at("/retrieval/in"), "qdrant://(hidden)@h:6334/eval?shards=2");
        assert!(
            at("/retrieval/rerank").starts_with("https://(hidden)@r.example/(sha256 "),
            "{}",
            at("/retrieval/rerank")
        );
        assert_eq!(at("/chunker/1/rerank"), "https://r.example/v1/rerank,model=m:1");
        assert_eq!(at("/chunker/2/rerank"), "cross-encoder:model=/models/a,max_tokens=9");
        assert_eq!(at("/sweep/chunker.a.rerank/0"), "none");
        assert_eq!(at("/llm/generator/headers/A"), format!("{} ${{KEY}}", sum_of(SECRET)));
        assert_eq!(at("/llm/generator/headers/B"), "Bearer ${KEY}");
        assert_eq!(at("/llm/generator/headers/C"), "${K:-(hidden)}");
        assert_eq!(
            at("/llm/generator/base_url"),
            format!("https://a.example/{}", sum_of(&format!("/v1/{SECRET}/chat")))
        );
        assert!(at("/llm/judge/base_url").starts_with("https://(hidden)@a.example:8443/(sha256 "));
        assert_eq!(shown["nightly"]["on_finish"], json!(["curl", "(hidden)", "(hidden)"]));
        assert_eq!(at("/sweep/llm.judge.base_url/1"), "https://b.example/v1");
        // What says nothing of a secret stays readable, and what is redacted stays as it is.
        for plain in
            ["http://127.0.0.1:8000/v1", "https://a.example/compatible-mode/v1beta", "https://a.example/${P}/v1"]
        {
            assert_eq!(address(plain), plain);
        }
        let mut again = shown.clone();
        redact(&mut again);
        assert_eq!(again, shown);
    }

    #[test]
    fn a_published_address_has_no_login() {
        assert_eq!(without_login("https://u:p@h.example:1/n/?a=b@c"), "https://h.example:1/n/?a=b@c");
        assert_eq!(without_login("https://h.example/@x"), "https://h.example/@x");
        assert_eq!(without_login("nights"), "nights");
    }

    proptest! {
        #[test]
        fn no_form_of_an_address_lets_a_secret_through(
            before in "[a-z:/?#@.${}-]{0,12}", after in "[a-z:/?#@.${}-]{0,12}", scheme in "(https://h[.]example)?",
        ) {
            // A host is shown: what stands where a host stands is none of our secrets.
            let text = format!("{scheme}/{before}{SECRET}{after}");
            for value in [address(&text), super::text(&text)] {
                prop_assert!(!value.contains(SECRET), "{text} gives {value}");
            }
            prop_assert_eq!(address(&address(&text)), address(&text));
        }
    }
}
