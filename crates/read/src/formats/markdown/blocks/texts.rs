//! What a text is, by its looks.

use pericope_api::Span;

use crate::formats::rst::make_id;

/// True where the box of a task is followed by a line break and nothing else: pulldown-cmark 0.13 panics where the
/// underline of a heading follows. The boxes of such a document are text.
pub(super) fn has_empty_task(text: &str) -> bool {
    text.split(['\n', '\r']).filter_map(|line| line.strip_suffix('\\')).any(|line| {
        let mark = line.trim_end().strip_suffix(']');
        let mark =
            mark.and_then(|line| line.strip_suffix(|inside: char| inside.is_whitespace() || "xX".contains(inside)));
        mark.is_some_and(|line| line.ends_with('['))
    })
}

/// Lines from the last to the first, with their ends.
pub(super) fn lines_from_the_end(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let body = rest.strip_suffix('\n').unwrap_or(rest);
        let (head, line) = rest.split_at(body.rfind('\n').map_or(0, |at| at + 1));
        rest = head;
        (!line.is_empty()).then_some(line)
    })
}

/// True for a line of nothing but list markers and quotation marks.
pub(super) fn is_marker(line: &str) -> bool {
    !line.trim().is_empty()
        && line.bytes().all(|b| {
            b.is_ascii_whitespace() || b.is_ascii_digit() || matches!(b, b'>' | b'-' | b'+' | b'*' | b'.' | b')')
        })
}

/// The bytes between the backticks of inline code; `None` where they do not show as they are.
pub(super) fn code_span(span: Span, raw: &str, text: &str) -> Option<Span> {
    let ticks = raw.len() - raw.trim_start_matches('`').len();
    let inner = raw.get(ticks..raw.len().checked_sub(ticks)?)?;
    let space = usize::from(inner != text);
    let shown = Span::new(span.start + ticks + space, span.end.checked_sub(ticks + space)?);
    let inner = inner.get(space..inner.len().checked_sub(space)?)?;
    (inner == text).then_some(shown)
}

/// True for what page generators read and people do not: the imports of MDX, lines of nothing but template tags.
pub(super) fn is_statement(text: &str) -> bool {
    let import = text.starts_with("import ") && (text.contains(" from '") || text.contains(" from \""));
    import || (text.starts_with('{') && text.lines().all(|line| is_template(line.trim())))
}

/// The id that Sphinx gives to a block of nothing but targets of MyST, each `(name)=` on a line: that of the last.
pub(super) fn target(text: &str) -> Option<String> {
    let name = |line: &str| {
        let name = line.trim().strip_prefix('(')?.strip_suffix(")=")?;
        let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
        is_name.then(|| make_id(name))
    };
    text.lines().map(name).collect::<Option<Vec<_>>>()?.pop()
}

/// True for `{{ ... }}`, `{% ... %}` and `{/* ... */}`, alone on a line.
fn is_template(line: &str) -> bool {
    [("{{", "}}"), ("{%", "%}"), ("{/*", "*/}")].iter().any(|(open, close)| {
        line.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|inner| !inner.contains(close))
    })
}
