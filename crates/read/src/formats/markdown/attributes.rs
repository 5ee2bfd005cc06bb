//! Attributes as kramdown has them, on a line behind the block that they are for: `{: #id .class }`.

use pericope_api::Span;

/// The lines from byte `from` on that are nothing else, without the blanks around them.
pub(super) fn lists(source: &str, from: usize) -> Vec<Span> {
    let mut found = Vec::new();
    if !source[from..].contains("{:") {
        return found;
    }
    let mut at = from;
    for line in source[from..].split_inclusive('\n') {
        let span = Span::new(at, at + line.len()).trimmed(source);
        // Deeper ones are code.
        let indent = &source[at..span.start];
        if indent.len() < 4 && !indent.contains('\t') && list(span.of(source)).is_some() {
            found.push(span);
        }
        at += line.len();
    }
    found
}

/// The id that such a line gives to the block that `rest` follows.
pub(super) fn id_below(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix('\r').unwrap_or(rest);
    let line = rest.strip_prefix('\n').unwrap_or(rest).lines().next()?;
    let id = list(line.trim())?.split_whitespace().find_map(|word| word.strip_prefix('#'))?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// What stands in the braces; a hash of Ruby is no such list.
fn list(line: &str) -> Option<&str> {
    line.strip_prefix("{:")?.strip_suffix('}').filter(|inner| !inner.contains(['{', '}']) && !inner.contains("=>"))
}
