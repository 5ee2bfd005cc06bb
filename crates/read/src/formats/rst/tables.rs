//! Tables that are drawn: grids, and simple ones with columns under rules.

use pericope_api::Kind;

use super::blocks::Rst;
use crate::work;

impl Rst<'_, '_> {
    /// `+---+---+`, to the last line that begins with `+` or `|`; answers with the line after it, or 0.
    pub(super) fn grid_table(&mut self, i: usize, to: usize) -> usize {
        let Some(first) = self.line(i, to).filter(|line| is_grid_rule(line.of(self.source))) else { return 0 };
        let mut end = i;
        let mut last_rule = i;
        while let Some(line) = self.line(end, to) {
            let text = line.of(self.source);
            if line.is_blank() || line.indent != first.indent || !text.starts_with(['+', '|']) {
                break;
            }
            if is_grid_rule(text) {
                last_rule = end;
            }
            end += 1;
        }
        work::looked(end - i);
        if last_rule < i + 2 {
            return 0;
        }
        self.whole(i, last_rule + 1, Kind::Table);
        last_rule + 1
    }

    /// `===  ===` over columns: to the second such rule that a blank line follows, or the third.
    pub(super) fn simple_table(&mut self, i: usize, to: usize) -> usize {
        let Some(first) = self.line(i, to).filter(|line| is_rule(line.of(self.source))) else { return 0 };
        let mut rules = 0;
        let mut j = i + 1;
        let mut last = None;
        while let Some(line) = self.line(j, to) {
            if !line.is_blank() && line.indent < first.indent {
                break;
            }
            if is_rule(line.of(self.source)) {
                rules += 1;
                last = Some(j);
                let ends = self.line(j + 1, to).is_none_or(|next| next.is_blank());
                if rules == 2 || ends {
                    break;
                }
            }
            j += 1;
        }
        work::looked(j - i);
        let Some(last) = last else { return 0 };
        self.whole(i, last + 1, Kind::Table);
        last + 1
    }
}

fn is_grid_rule(text: &str) -> bool {
    text.len() > 2
        && text.starts_with('+')
        && text.ends_with('+')
        && text.contains(['-', '='])
        && text.bytes().all(|b| matches!(b, b'+' | b'-' | b'='))
}

fn is_rule(text: &str) -> bool {
    text.contains(' ') && text.starts_with('=') && text.ends_with('=') && text.bytes().all(|b| b == b'=' || b == b' ')
}
