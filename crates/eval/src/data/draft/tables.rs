//! Rows of tables: the row's label and the head of a column ask, the row answers.

use pericope_api::{Document, Format, Kind, Span};

use super::corpus::line;

/// A row of a table: its place and its cells.
struct Row {
    span: Span,
    cells: Vec<Span>,
}

/// A question about a row.
pub(super) struct TableQuery {
    pub query: String,
    pub answer: Span,
}

/// Rows that are asked about, of one table.
const MOST_ROWS: usize = 200;
/// Fewest words of a row that answers.
const FEWEST: usize = 5;

/// The queries of all tables of a document: one a row, about the column whose cell says most.
pub(super) fn queries(document: &Document) -> Vec<TableQuery> {
    let tables = document.sentences.iter().filter(|s| s.kind == Kind::Table);
    tables.flat_map(|s| of_table(document, &rows(document, s.span))).collect()
}

fn of_table(document: &Document, rows: &[Row]) -> Vec<TableQuery> {
    let Some((head, body)) = rows.split_first() else { return Vec::new() };
    let heads: Vec<String> = head.cells.iter().map(|cell| bare(document, *cell)).collect();
    if body.len() < 2 || heads.len() < 2 {
        return Vec::new();
    }
    let labels: Vec<String> =
        body.iter().map(|row| row.cells.first().map(|cell| bare(document, *cell)).unwrap_or_default()).collect();
    let mut found = Vec::new();
    for (row, label) in body.iter().zip(&labels).take(MOST_ROWS) {
        let letters = label.chars().filter(|c| c.is_alphabetic()).count();
        let is_only = labels.iter().filter(|other| *other == label).count() == 1;
        let words = line(document, row.span).split_whitespace().filter(|w| w.contains(char::is_alphanumeric)).count();
        if letters < 3 || label.split(' ').count() > 8 || !is_only || words < FEWEST {
            continue;
        }
        let said = |at: usize| row.cells.get(at).map_or(0, |cell| line(document, *cell).len());
        let named =
            |at: &usize| heads.get(*at).is_some_and(|head| head.chars().filter(|c| c.is_alphabetic()).count() >= 2);
        // The first of the longest.
        let column =
            (1..heads.len()).filter(named).filter(|&at| said(at) > 1).max_by_key(|&at| (said(at), usize::MAX - at));
        if let Some(head) = column.and_then(|at| heads.get(at)) {
            found.push(TableQuery { query: format!("{label}: {head}"), answer: row.span });
        }
    }
    found
}

/// The words of a cell, without marks of code and stress, and without the targets of links.
fn bare(document: &Document, cell: Span) -> String {
    let text = line(document, cell).replace("**", "").replace('`', "");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, target)) = rest.split_once("](") {
        match (before.rsplit_once('['), target.split_once(')')) {
            (Some((plain, shown)), Some((_, after))) => {
                out.extend([plain, shown]);
                rest = after;
            }
            _ => break,
        }
    }
    out.push_str(rest);
    out.trim().to_owned()
}

fn rows(document: &Document, table: Span) -> Vec<Row> {
    let source = document.text(table);
    match document.format {
        Format::Html => html_rows(source, table.start),
        _ if source.contains("<tr") => html_rows(source, table.start),
        Format::Rst if !source.trim_start().starts_with('+') => simple_rows(source, table.start),
        _ => pipe_rows(source, table.start),
    }
}

/// The lines of a text with the place of each.
fn lines(text: &str, start: usize) -> impl Iterator<Item = (Span, &str)> {
    text.split_inclusive('\n').scan(start, |at, whole| {
        let begin = *at;
        *at += whole.len();
        let line = whole.trim_end();
        Some((Span::new(begin, begin + line.len()), line))
    })
}

/// Rows of `| a | b |`, with a line under the head: Markdown's tables, and grids. AsciiDoc has no such line.
fn pipe_rows(source: &str, start: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let is_rule = |line: &str| line.contains(['-', '=']) && line.chars().all(|c| "-=|:+ \t".contains(c));
    let grid = source.trim_start().starts_with('+');
    let mut goes_on = false;
    for (span, text) in lines(source, start) {
        if text.trim().is_empty() || is_rule(text) || !text.contains('|') {
            goes_on = false;
            continue;
        }
        let cells = cells(text, span.start);
        match rows.last_mut() {
            // A row of a grid may have several lines: the first says what it is about.
            Some(row) if grid && goes_on => row.span = row.span.hull(&span),
            _ => rows.push(Row { span: span.trimmed_to(text), cells }),
        }
        goes_on = true;
    }
    rows
}

/// The cells of `| a | b |`.
fn cells(line: &str, start: usize) -> Vec<Span> {
    let mut bars: Vec<usize> = Vec::new();
    let mut before = '\0';
    for (at, c) in line.char_indices() {
        if c == '|' && before != '\\' {
            bars.push(at);
        }
        before = c;
    }
    let mut edges = Vec::with_capacity(bars.len() + 2);
    if !line.trim_start().starts_with('|') {
        edges.push(None);
    }
    edges.extend(bars.into_iter().map(Some));
    if !line.trim_end().ends_with('|') {
        edges.push(Some(line.len()));
    }
    let pairs = edges.windows(2).filter_map(|pair| match pair {
        [from, Some(to)] => Some((from.map_or(0, |from| from + 1), *to)),
        _ => None,
    });
    pairs.map(|(from, to)| Span::new(start + from, start + to)).collect()
}

/// Rows of `<tr>` elements.
fn html_rows(source: &str, start: usize) -> Vec<Row> {
    let low = source.to_ascii_lowercase();
    let starts: Vec<usize> = low.match_indices("<tr").map(|(at, _)| at).collect();
    let mut rows = Vec::with_capacity(starts.len());
    for (number, &from) in starts.iter().enumerate() {
        let next = starts.get(number + 1).copied().unwrap_or(low.len());
        let to = low.get(from..next).and_then(|row| row.find("</tr>")).map_or(next, |at| from + at);
        let Some(row) = low.get(from..to) else { continue };
        let mut begins: Vec<usize> = row
            .match_indices("<t")
            .filter(|(at, _)| row.get(at + 2..).is_some_and(is_cell))
            .map(|(at, _)| at)
            .collect();
        begins.push(row.len());
        let cells = begins.windows(2).filter_map(|pair| match pair {
            [from_cell, to_cell] => Some(Span::new(start + from + from_cell, start + from + to_cell)),
            _ => None,
        });
        rows.push(Row { cells: cells.collect(), span: Span::new(start + from, start + to) });
    }
    rows
}

/// Whether what comes after `<t` makes it a cell: `d>`, `h scope=...`.
fn is_cell(after: &str) -> bool {
    after.starts_with(['d', 'h']) && after.get(1..).is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t', '\r']))
}

/// Rows of reStructuredText's simple tables, whose rules of `=` say where the columns are.
fn simple_rows(source: &str, start: usize) -> Vec<Row> {
    let is_rule = |line: &str| line.contains('=') && line.chars().all(|c| c == '=' || c.is_whitespace());
    let Some((rule_at, rule)) = lines(source, start).find(|(_, line)| is_rule(line)) else { return Vec::new() };
    let mut columns = Vec::new();
    let mut before = ' ';
    for (at, c) in rule.char_indices() {
        if c == '=' && before != '=' {
            columns.push(at);
        }
        before = c;
    }
    let mut rows: Vec<Row> = Vec::new();
    for (span, text) in lines(source, start).filter(|(span, _)| span.start > rule_at.start) {
        if is_rule(text) || text.trim().is_empty() || text.trim().chars().all(|c| "- ".contains(c)) {
            continue;
        }
        let cells: Vec<Span> = (columns.iter().enumerate())
            .filter_map(|(number, &from)| {
                let to = columns.get(number + 1).copied().unwrap_or(text.len()).min(text.len());
                text.get(from..to).map(|_| Span::new(span.start + from, span.start + to))
            })
            .collect();
        let is_more = text.get(..columns.get(1).copied().unwrap_or(0)).is_some_and(|first| first.trim().is_empty());
        match rows.last_mut() {
            Some(row) if is_more => row.span = row.span.hull(&span),
            _ => rows.push(Row { span, cells }),
        }
    }
    rows
}

/// A span of a line without the blanks at its two ends.
trait TrimmedTo {
    fn trimmed_to(self, line: &str) -> Span;
}

impl TrimmedTo for Span {
    fn trimmed_to(self, line: &str) -> Span {
        let lead = line.len() - line.trim_start().len();
        Span::new(self.start + lead, self.start + lead + line.trim().len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pericope_read::{ReadOptions, read_text};

    fn asked(format: &str, source: &str) -> Vec<(String, String)> {
        let document = read_text("d", format, source, &ReadOptions::default()).unwrap();
        queries(&document).into_iter().map(|q| (q.query, document.text(q.answer).to_owned())).collect()
    }

    #[test]
    fn tables_of_every_format_are_read() {
        let md = "Text.\n\n| option | type | meaning |\n|---|---|---|\n| [`max_wait`](#wait) | int | seconds before a call is given up |\n\
            | `retries` | int | calls after the first one fails |\n";
        let found = asked("md", md);
        assert_eq!(found[0].0, "max_wait: meaning");
        assert_eq!(found[0].1, "| [`max_wait`](#wait) | int | seconds before a call is given up |");
        assert_eq!(found.len(), 2);
        let html = "<p>x</p><table><tr><th>Option<th>Meaning</tr><tr><td>max_wait</td><td>seconds before a call ends</td></tr>\
            <tr><td>retries</td><td>calls after the first one</td></tr></table>";
        let found = asked("html", html);
        assert_eq!(found[1].0, "retries: Meaning");
        assert!(found[1].1.contains("calls after"), "{found:?}");
        let rst = "Table\n=====\n\n========  =======================\nOption    Meaning\n========  =======================\n\
            max_wait  seconds until it ends\nretries   calls after the first one\n          and the second one\n\
            ========  =======================\n";
        let found = asked("rst", rst);
        assert_eq!(
            found[1],
            ("retries: Meaning".into(), "retries   calls after the first one\n          and the second one".into())
        );
        let grid = "Table\n=====\n\n+----------+------------------------+\n| Option   | Meaning                |\n\
            +==========+========================+\n| max_wait | seconds until it ends  |\n\
            +----------+------------------------+\n| retries  | calls after the first  |\n|          | and after the second   |\n\
            +----------+------------------------+\n";
        let found = asked("rst", grid);
        assert_eq!(found[1].0, "retries: Meaning");
        assert!(found[1].1.contains("and after the second"), "{found:?}");
    }

    #[test]
    fn labels_that_repeat_or_say_nothing_ask_nothing() {
        let md = "| a | what it says |\n|---|---|\n| same | one two three four five |\n| same | six seven eight nine ten |\n\
            | 1 | one two three four five six |\n| once | here it stands alone in a row |\n";
        let found = asked("md", md);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "once: what it says");
    }
}
