//! Inline macros: `name:target[text]`.

use pericope_api::Span;

use crate::work;

/// The text that a macro shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    /// The text in its brackets, else where it leads to.
    Link,
    /// The first of the values in its brackets.
    Alternative,
    /// What is in its brackets, in parentheses.
    Note,
    /// What is in its brackets.
    Inner,
    /// Target and brackets: `menu:File[Save]`.
    Menu,
    /// What is in its brackets, as code.
    Code,
    /// Nothing.
    Nothing,
}

const MACROS: &[(&str, Shows)] = &[
    ("link:", Shows::Link),
    ("xref:", Shows::Link),
    ("mailto:", Shows::Link),
    ("http://", Shows::Link),
    ("https://", Shows::Link),
    ("ftp://", Shows::Link),
    ("irc://", Shows::Link),
    ("image:", Shows::Alternative),
    ("footnote:", Shows::Note),
    ("kbd:", Shows::Inner),
    ("btn:", Shows::Inner),
    ("pass:", Shows::Inner),
    ("indexterm2:", Shows::Inner),
    ("menu:", Shows::Menu),
    ("stem:", Shows::Code),
    ("latexmath:", Shows::Code),
    ("asciimath:", Shows::Code),
    ("icon:", Shows::Nothing),
    ("anchor:", Shows::Nothing),
    ("indexterm:", Shows::Nothing),
];

/// A macro in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Macro {
    pub(super) shows: Shows,
    pub(super) target: Span,
    /// Between the brackets; `None` for an address without.
    pub(super) inner: Option<Span>,
    pub(super) end: usize,
}

/// What the last searches found: many macros may have one end in common, which is looked for once.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Where the last search for the end of a target began, and where that end is.
    stop: Option<Span>,
    /// A bracket, and the one that closes it.
    bracket: Option<(usize, Option<usize>)>,
}

impl Targets {
    /// The end of the target whose text begins at byte `from`, before byte `end`.
    fn stop(&mut self, source: &str, from: usize, end: usize) -> usize {
        if let Some(known) = self.stop
            && known.start <= from
            && from <= known.end
        {
            return known.end;
        }
        let rest = Span::new(from, end).of(source);
        let stop = work::find_char(rest, |c| c.is_whitespace() || matches!(c, '[' | '<' | '>' | '"'));
        let stop = stop.map_or(end, |stop| from + stop);
        self.stop = Some(Span::new(from, stop));
        stop
    }

    fn closing(&mut self, source: &str, from: usize, end: usize) -> Option<usize> {
        match self.bracket {
            Some((known, close)) if known == from => close,
            _ => {
                let close = closing(source, from, end);
                self.bracket = Some((from, close));
                close
            }
        }
    }
}

/// The macro that begins at byte `at`, before byte `end`; `targets` are those of the same text.
pub(super) fn find(source: &str, at: usize, end: usize, targets: &mut Targets) -> Option<Macro> {
    let rest = source.get(at..end)?;
    let (name, shows) = MACROS.iter().find(|(name, _)| rest.starts_with(name))?;
    let address = name.ends_with("//");
    let from = if address { at } else { at + name.len() };
    let target_end = targets.stop(source, at + name.len(), end);
    if source[target_end..end].starts_with('[')
        && let Some(close) = targets.closing(source, target_end + 1, end)
    {
        let inner = Span::new(target_end + 1, close);
        return Some(Macro { shows: *shows, target: Span::new(from, target_end), inner: Some(inner), end: close + 1 });
    }
    if !address {
        return None;
    }
    // The full stop behind an address is not part of it.
    let target = source[at..target_end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '\'']);
    work::looked(target_end - at - target.len());
    let target_end = at + target.len();
    (target.len() > name.len()).then_some(Macro {
        shows: *shows,
        target: Span::new(from, target_end),
        inner: None,
        end: target_end,
    })
}

/// The bracket that closes what is open at byte `from`, in the same paragraph; those after a backslash do not.
fn closing(source: &str, from: usize, end: usize) -> Option<usize> {
    const LONGEST: usize = 2_000;
    let stop = source.floor_char_boundary(end.min(from + LONGEST));
    let mut at = from;
    loop {
        let close = at + work::find(source.get(at..stop)?, "]")?;
        if !source[..close].ends_with('\\') {
            return Some(close);
        }
        at = close + 1;
    }
}

/// The first of the values in the brackets of a macro, without its quotes and the sign for a new window.
pub(super) fn first_value(source: &str, inner: Span) -> Span {
    let text = inner.of(source);
    let trimmed = text.trim_start();
    let start = inner.start + text.len() - trimmed.len();
    if let Some(quoted) = trimmed.strip_prefix('"')
        && let Some(len) = quoted.find('"')
    {
        return Span::new(start + 1, start + 1 + len);
    }
    let end = if trimmed.contains('=') || trimmed.contains(',') {
        let first = trimmed.split(',').next().unwrap_or(trimmed);
        // A named value is no text.
        let named = first.split_once('=').is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric()));
        if named { 0 } else { first.len() }
    } else {
        trimmed.len()
    };
    let text = trimmed[..end].trim_end().trim_end_matches('^');
    Span::new(start, start + text.len())
}

/// The text of a link: all of what is in its brackets, unless there are named values too.
pub(super) fn link_text(source: &str, inner: Span) -> Span {
    let text = inner.of(source);
    let named = text.split(',').skip(1).any(|part| part.contains('='));
    if named || text.starts_with('"') || text.split_once('=').is_some_and(|(name, _)| is_name(name)) {
        return first_value(source, inner);
    }
    let trimmed = text.trim_end().trim_end_matches('^');
    Span::new(inner.start, inner.start + trimmed.len())
}

/// True for an address that links lead to.
pub(super) fn is_address(text: &str) -> bool {
    let links = MACROS.iter().filter(|(_, shows)| *shows == Shows::Link);
    links.map(|(name, _)| *name).any(|name| name != "xref:" && text.starts_with(name))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{Targets, find, first_value, link_text};
    use pericope_api::Span;

    #[test]
    fn macros_and_addresses() {
        let parts = |text: &str| {
            find(text, 0, text.len(), &mut Targets::default()).map(|m| {
                let inner = m.inner.map(|inner| inner.of(text).to_owned());
                (m.target.of(text).to_owned(), inner, m.end)
            })
        };
        let is = |target: &str, inner: Option<&str>, end| Some((target.to_owned(), inner.map(str::to_owned), end));
        assert_eq!(parts("link:a.html[The a] x"), is("a.html", Some("The a"), 18));
        assert_eq!(parts("https://a.b/c_d_e[Site^]"), is("https://a.b/c_d_e", Some("Site^"), 24));
        assert_eq!(parts("https://a.b/c. Then"), is("https://a.b/c", None, 13));
        assert_eq!(parts("xref:a"), None);
        assert_eq!(parts("image:x.png[A \\] b]"), is("x.png", Some("A \\] b"), 19));
    }

    #[test]
    fn texts_in_brackets() {
        let whole = |text: &str| Span::new(0, text.len());
        for (text, first) in [("Alt, 20", "Alt"), ("\"A, b\", 3", "A, b"), ("width=3", ""), ("Text^", "Text"), ("", "")]
        {
            assert_eq!(first_value(text, whole(text)).of(text), first);
        }
        for (text, shown) in [("One, two", "One, two"), ("One,role=x", "One"), ("window=_blank", ""), ("a^", "a")] {
            assert_eq!(link_text(text, whole(text)).of(text), shown);
        }
    }
}
