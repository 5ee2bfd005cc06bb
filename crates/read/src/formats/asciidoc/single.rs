//! Lines that are something by themselves: remarks, conditions, includes, macros.

use pericope_api::Span;

use super::metadata::entry;

/// `// remark`.
pub(super) fn is_comment(text: &str) -> bool {
    text.starts_with("//") && !text.starts_with("///")
}

/// What is done before the text is read: includes and conditions.
pub(super) fn is_preprocessor(text: &str) -> bool {
    ["include::", "ifdef::", "ifndef::", "ifeval::", "endif::"].iter().any(|name| text.starts_with(name))
        && text.ends_with(']')
}

/// Where the text begins that a condition on the same line shows; conditions are not evaluated.
pub(super) fn conditional(text: &str) -> Option<usize> {
    let (name, rest) = text.split_once("::")?;
    let (_, inner) = rest.strip_suffix(']')?.split_once('[')?;
    let is_text = !inner.trim().is_empty()
        && entry(inner).is_none()
        && !is_preprocessor(inner)
        && !is_comment(inner)
        && block_macro(inner).is_none();
    (matches!(name, "ifdef" | "ifndef") && is_text).then(|| text.len() - 1 - inner.len())
}

/// Name of a macro that is alone on its line, and what is between its brackets.
pub(super) fn block_macro(text: &str) -> Option<(&str, Span)> {
    let (name, rest) = text.split_once("::")?;
    let good = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let open = name.len() + 2 + rest.find('[')?;
    (good && text.ends_with(']') && !text[name.len() + 2..open].contains(' '))
        .then(|| (name, Span::new(open + 1, text.len() - 1)))
}
