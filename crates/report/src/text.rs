//! Tables and sentences as plain text for a terminal.

use pericope_eval::format;

/// Characters of a row's name.
const NAME: usize = 31;

/// Terminals and what reads their output prefer the keyboard's own characters.
#[must_use]
pub fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ").replace(['−', '–'], "-").replace('Ω', "omega")
}

/// Writes aligned columns, the first to the left and the others to the right, and an empty line. What does not fit into so
/// many characters a line goes into a further block below, under the same row names.
pub fn grid(out: &mut String, head: &[String], rows: &[Vec<String>], most: usize) {
    let width = |text: &str| text.chars().count();
    // A damaged file may name anything.
    let head: Vec<String> = head.iter().map(|name| format::clipped(name, 2 * NAME)).collect();
    let Some((corner, columns)) = head.split_first() else { return };
    let names: Vec<String> =
        rows.iter().map(|row| format::clipped(row.first().map_or("", String::as_str), NAME)).collect();
    let first = names.iter().map(|name| width(name)).max().unwrap_or(0).max(width(corner));
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let cells = rows.iter().filter_map(|row| row.get(i + 1)).map(|cell| width(cell));
            cells.max().unwrap_or(0).max(width(name))
        })
        .collect();
    let mut start = 0;
    while start < columns.len() {
        let mut end = start;
        let mut used = first;
        while let Some(w) = widths.get(end).filter(|w| end == start || used + 2 + **w <= most) {
            used += 2 + w;
            end += 1;
        }
        let mut line = |name: &str, cell: &dyn Fn(usize) -> String| {
            let mut text = format!("{name:<first$}");
            for (i, w) in widths.iter().enumerate().take(end).skip(start) {
                text.push_str(&format!("  {:>w$}", cell(i)));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        line(corner, &|i| columns.get(i).cloned().unwrap_or_default());
        for (name, row) in names.iter().zip(rows) {
            line(name, &|i| row.get(i + 1).cloned().unwrap_or_default());
        }
        out.push('\n');
        start = end;
    }
}

/// Writes text behind a mark, broken into lines of at most so many characters at spaces; a no-break space does not break.
pub fn paragraph(out: &mut String, mark: &str, text: &str, most: usize) {
    let mut column = mark.chars().count();
    out.push_str(mark);
    for (i, word) in text.split(' ').enumerate() {
        let width = word.chars().count();
        if i > 0 && column + 1 + width > most {
            out.push('\n');
            column = 0;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::grid;

    #[test]
    fn columns_are_aligned_and_wrap() {
        let head: Vec<String> = std::iter::once("name".to_owned()).chain((0..30).map(|i| format!("col{i}"))).collect();
        let row: Vec<String> = std::iter::once("a".repeat(60)).chain((0..30).map(|i| i.to_string())).collect();
        let mut out = String::new();
        grid(&mut out, &head, &[row], 100);
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
        assert!(out.contains("col29") && out.contains('…'));
        let block: Vec<&str> = out.lines().take(2).collect();
        assert_eq!(block[0].chars().count(), block[1].chars().count());
    }
}
