//! Blocks between two equal lines.

/// The kinds of blocks between two equal lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimited {
    /// Code, or text as it is.
    Code,
    /// A table.
    Table,
    /// Handed through to the page: nothing that a reader sees as text.
    Pass,
    /// A remark of the author.
    Comment,
    /// Blocks like any others: an example, a sidebar, a quotation.
    Blocks,
}

/// Returns the block that a line begins, and the line that ends it.
pub(super) fn delimited(line: &str) -> Option<(Delimited, &str)> {
    if line == "--" {
        return Some((Delimited::Blocks, line));
    }
    if let Some(language) = line.strip_prefix("```") {
        return (!language.contains('`')).then_some((Delimited::Code, "```"));
    }
    if let Some(rest) = line.strip_prefix(['|', ',', ':', '!'])
        && rest.len() >= 3
        && rest.bytes().all(|b| b == b'=')
    {
        return Some((Delimited::Table, line));
    }
    let first = *line.as_bytes().first()?;
    if line.len() < 4 || !line.bytes().all(|b| b == first) {
        return None;
    }
    let kind = match first {
        b'-' | b'.' => Delimited::Code,
        b'+' => Delimited::Pass,
        b'/' => Delimited::Comment,
        b'=' | b'*' | b'_' => Delimited::Blocks,
        _ => return None,
    };
    Some((kind, line))
}
