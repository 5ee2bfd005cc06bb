//! The frame of pages: running titles and page numbers, which are no part of the text.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::layout::{Page, commonest_gap, is_apart};

/// Lines at the top and the bottom of a page that may be its frame.
const EDGE: usize = 2;
/// Longest line that may be frame, in bytes.
const LONGEST: usize = 200;
/// What two lines of different pages may differ by that stand at the same height, in points.
const SAME_HEIGHT: f64 = 3.0;
/// Letters this much larger than those of the text are a title's.
const LARGER: f64 = 1.15;
/// What is frame on most pages is this much further from the text than its lines are from each other.
const WIDER: f64 = 1.1;
/// From a page to the next one with a number that follows: there may be pages without one between them.
const REACH: u32 = 3;
/// The number of the page is one of so many numbers in a line.
const MOST_NUMBERS: usize = 6;
/// What a shape tells of, its first letter: a number alone, the text with the number of its page, the text.
const LONE: char = 'n';
const FOLLOWS: char = 'p';
const SAME: char = 't';

/// A line by its page and its place on that.
type Place = (usize, usize);

/// A line at the edge of a page.
#[derive(Debug, Clone, Copy)]
struct Hit {
    page: u32,
    height: f64,
    place: Place,
    /// Its letters are larger than those of the text.
    large: bool,
}

/// The lines that repeat at the edges of pages.
#[derive(Debug, Default)]
struct Repeated {
    all: HashSet<Place>,
    /// Those that do so on most pages, so that they need not stand far from the text.
    sure: HashSet<Place>,
}

/// The lines that are the frame of their pages.
///
/// These stand at the same height on several pages, are the same there but for a number that grows with the pages, are
/// set no larger than the text, and stand apart from it. Where many pages have them, they may be larger, and where most
/// have them, close to the text. What would leave nothing of a page stays.
pub(super) fn frame(pages: &[Page]) -> HashSet<Place> {
    let mut frame = HashSet::new();
    let body = body_size(pages);
    let repeated = repeated(pages, body);
    let found = &repeated.all;
    if found.is_empty() {
        return frame;
    }
    let typical = typical_gap(pages, found, body);
    for (number, page) in pages.iter().enumerate() {
        let mut at = 0;
        let mut hidden = BTreeSet::new();
        // What stands close together is one thing: all of it is frame, or none.
        for group in page.lines.chunk_by(|before, line| !is_apart(before, line, typical)) {
            let lines = at..at + group.len();
            at = lines.end;
            let is_frame = |line: usize| found.contains(&(number, line));
            if lines.clone().zip(group).all(|(i, line)| is_frame(i) || line.text.trim().is_empty()) {
                hidden.extend(lines);
            }
        }
        // From either end of the page as far as a gap that is a little wider than those of the text.
        let count = page.lines.len();
        let is_sure = |line: &usize| hidden.contains(line) || repeated.sure.contains(&(number, *line));
        let is_wider = |line: usize| page.lines.get(line).is_some_and(|line| line.gap > typical * WIDER);
        let first = (0..count).take_while(is_sure).filter(|&line| is_wider(line + 1)).last();
        let last = (0..count).rev().take_while(is_sure).filter(|&line| is_wider(line)).last();
        hidden.extend(first.into_iter().flat_map(|end| 0..=end).chain(last.into_iter().flat_map(|start| start..count)));
        keep_one(page, &mut hidden);
        frame.extend(hidden.into_iter().map(|line| (number, line)));
    }
    frame
}

/// Of a page that would be empty the longest line stays, unless that is a number.
fn keep_one(page: &Page, hidden: &mut BTreeSet<usize>) {
    let lines = || page.lines.iter().enumerate().map(|(i, line)| (i, line.text.trim()));
    if lines().any(|(i, text)| !hidden.contains(&i) && !text.is_empty()) {
        return;
    }
    let words = lines().filter(|(_, text)| lone_number(text).is_none() && text.contains(char::is_alphabetic));
    if let Some((longest, _)) = words.max_by_key(|(_, text)| text.len()) {
        hidden.remove(&longest);
    }
}

/// Size of the letters of the text, in points: that of most of it.
pub(super) fn body_size(pages: &[Page]) -> f64 {
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for line in pages.iter().flat_map(|page| &page.lines) {
        // In tenths of a point.
        *counts.entry((line.size * 10.0).round() as i64).or_default() += line.text.len();
    }
    let most = counts.into_iter().max_by_key(|&(size, count)| (count, size));
    most.map_or(12.0, |(size, _)| size as f64 / 10.0)
}

/// From line to line within the text, in points.
fn typical_gap(pages: &[Page], found: &HashSet<Place>, body: f64) -> f64 {
    let gaps = pages.iter().enumerate().flat_map(|(number, page)| {
        let lines = page.lines.iter().enumerate().skip(1);
        let inner = lines.filter(move |&(i, _)| !found.contains(&(number, i)) && !found.contains(&(number, i - 1)));
        inner.map(|(_, line)| line.gap)
    });
    // Where a page has a line or two, they tell nothing of the text.
    commonest_gap(gaps).unwrap_or(body * 1.5).min(body * 2.5)
}

/// The lines that repeat at the edges of pages.
fn repeated(pages: &[Page], body: f64) -> Repeated {
    let mut found = Repeated::default();
    let mut pairs: Vec<Hit> = Vec::new();
    for (shape, mut hits) in shaped(pages, body) {
        let same = shape.starts_with(SAME);
        let lone = shape.starts_with(LONE);
        let of_total = is_of_total(&shape);
        let need = match (lone, same) {
            (true, _) => 2,
            (_, true) => (pages.len() / 4).max(3),
            _ => 3,
        };
        if !same && !of_total {
            hits.retain(|hit| !hit.large);
        }
        hits.sort_by(|a, b| a.height.total_cmp(&b.height));
        for level in hits.chunk_by(|a, b| b.height - a.height <= SAME_HEIGHT) {
            let mut level = level.to_vec();
            if same && on(&level) * 2 < pages.len() {
                level.retain(|hit| !hit.large);
            }
            level.sort_by_key(|hit| hit.page);
            let reach = if same { u32::MAX } else { REACH };
            for run in level.chunk_by(|a, b| b.page - a.page <= reach) {
                let count = on(run);
                if count >= need {
                    // The first page of a chapter may have its number elsewhere.
                    let all = if lone { hits.as_slice() } else { run };
                    found.all.extend(all.iter().map(|hit| hit.place));
                }
                if count >= need && count * 3 >= pages.len() * 2 && (same || of_total || is_set_off(&shape)) {
                    found.sure.extend(run.iter().map(|hit| hit.place));
                }
            }
            // The title of a chapter, on each of its pages or on every second one.
            for run in level.chunk_by(|a, b| b.page - a.page <= 2).filter(|_| same) {
                match on(run) {
                    0 | 1 => {}
                    2 => pairs.extend(run.iter().filter(|hit| !hit.large)),
                    _ => found.all.extend(run.iter().map(|hit| hit.place)),
                }
            }
        }
    }
    // Two pages are enough where many of the others have a running title at that height.
    let top = |&(page, line): &Place| pages.get(page).and_then(|page| page.lines.get(line)).map(|line| line.top);
    let tops: Vec<f64> = found.all.iter().filter_map(top).collect();
    for hit in pairs {
        let beside = tops.iter().filter(|&&top| (top - hit.height).abs() <= SAME_HEIGHT).count();
        if beside > 2 && beside * 3 >= pages.len() {
            found.all.insert(hit.place);
        }
    }
    found
}

/// The lines at the edges of pages that may be frame, by what they have in common.
fn shaped(pages: &[Page], body: f64) -> HashMap<String, Vec<Hit>> {
    let mut hits: HashMap<String, Vec<Hit>> = HashMap::new();
    for (number, page) in pages.iter().enumerate() {
        let count = page.lines.len();
        for (i, line) in page.lines.iter().enumerate() {
            let edge = i < EDGE || i + EDGE >= count;
            let text = line.text.trim();
            if edge && !text.is_empty() && text.len() <= LONGEST {
                let large = line.size > body * LARGER;
                for shape in shapes(text, page.number) {
                    let hit = Hit { page: page.number, height: line.top, place: (number, i), large };
                    hits.entry(shape).or_default().push(hit);
                }
            }
        }
    }
    hits
}

/// How many pages hits are on.
fn on(hits: &[Hit]) -> usize {
    hits.iter().map(|hit| hit.page).collect::<BTreeSet<u32>>().len()
}

/// What stands before and behind the number of the page in a shape.
fn around(shape: &str) -> Option<(&str, &str)> {
    let mut parts = shape.strip_prefix(FOLLOWS)?.split('\u{0}');
    Some((parts.next()?, parts.nth(1)?))
}

/// True for `Page 3 of 9` and the like.
fn is_of_total(shape: &str) -> bool {
    let Some((_, after)) = around(shape) else { return false };
    let after = after.trim_start();
    let of = ["of ", "/", "von ", "de ", "sur ", "di ", "van ", "av ", "af ", "из "];
    of.iter().any(|of| {
        after.strip_prefix(of).is_some_and(|total| total.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// True where a wide blank parts the number of the page, which is the first or the last of the line, from the rest.
fn is_set_off(shape: &str) -> bool {
    around(shape).is_some_and(|(before, after)| {
        (after.is_empty() && before.ends_with("  ")) || (before.is_empty() && after.starts_with("  "))
    })
}

/// What a line may have in common with those of other pages: its text, and its text with one of its numbers told by what
/// it is beyond that of the page.
fn shapes(text: &str, page: u32) -> Vec<String> {
    let beyond = |number: i64| number - i64::from(page);
    let mut shapes = vec![format!("{SAME}{text}")];
    if let Some((number, is_roman)) = lone_number(text) {
        shapes.push(format!("{LONE}{}{}", beyond(number), if is_roman { "r" } else { "" }));
        return shapes;
    }
    let mut from = 0;
    while shapes.len() <= MOST_NUMBERS
        && let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at)
    {
        let len = text[start..].bytes().take_while(u8::is_ascii_digit).count();
        from = start + len;
        if let Ok(number) = text[start..from].parse::<u32>() {
            shapes.push(format!("{FOLLOWS}{}\u{0}{}\u{0}{}", &text[..start], beyond(number.into()), &text[from..]));
        }
    }
    shapes
}

/// The number that is all of a line, and whether it is a Roman one.
fn lone_number(text: &str) -> Option<(i64, bool)> {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '–' | '—' | '|'));
    if !bare.is_empty() && bare.len() <= 4 && bare.bytes().all(|b| b.is_ascii_digit()) {
        return bare.parse().ok().map(|number| (number, false));
    }
    roman(bare).map(|number| (number, true))
}

fn roman(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 6 {
        return None;
    }
    let (mut sum, mut most) = (0, 0);
    for b in text.bytes().rev() {
        let value = match b {
            b'i' => 1,
            b'v' => 5,
            b'x' => 10,
            b'l' => 50,
            b'c' => 100,
            _ => return None,
        };
        sum += if value < most { -value } else { value };
        most = most.max(value);
    }
    (sum > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::super::layout::Line;
    use super::{Page, frame, lone_number};

    /// Pages of lines, each with its distance from the top and the size of its letters.
    fn pages(pages: &[Vec<(&str, f64, f64)>]) -> Vec<Page> {
        let page = |lines: &Vec<(&str, f64, f64)>| -> Vec<Line> {
            let mut above = 0.0;
            let line = |&(text, top, size): &(&str, f64, f64)| {
                let gap = top - above;
                above = top;
                Line { text: text.into(), gap, top, size }
            };
            lines.iter().map(line).collect()
        };
        pages.iter().zip(1..).map(|(lines, number)| Page { number, lines: page(lines) }).collect()
    }

    /// The text of the lines that are frame, in order.
    fn hidden(given: &[Vec<(&str, f64, f64)>]) -> Vec<String> {
        let pages = pages(given);
        let mut places: Vec<_> = frame(&pages).into_iter().collect();
        places.sort_unstable();
        places.into_iter().map(|(page, line)| pages[page].lines[line].text.clone()).collect()
    }

    #[test]
    fn running_titles_and_page_numbers_are_frame() {
        let body = |top: f64, foot: &'static str, title: &'static str| {
            vec![(title, 40.0, 10.0), ("It pumps.", top, 10.0), ("And stops.", top + 12.0, 10.0), (foot, 800.0, 10.0)]
        };
        let given = [
            body(80.0, "Page 4 of 9", "Pumps"),
            body(90.0, "Page 5 of 9", "Pumps"),
            body(99.0, "Page 6 of 9", "Pumps"),
        ];
        assert_eq!(hidden(&given), ["Pumps", "Page 4 of 9", "Pumps", "Page 5 of 9", "Pumps", "Page 6 of 9"]);
        // Two pages are enough for numbers, in Roman letters as well, and a third has its own elsewhere.
        let given =
            [body(80.0, "iv", "A"), body(80.0, "- v -", "B"), vec![("It ends.", 80.0, 10.0), ("vi", 500.0, 10.0)]];
        assert_eq!(hidden(&given), ["iv", "- v -", "vi"]);
    }

    #[test]
    fn numbers_that_are_no_page_numbers_are_text() {
        let one = |text: &'static str, last: &'static str| vec![(text, 80.0, 10.0), (last, 120.0, 10.0)];
        assert!(hidden(&[one("The total in euros", "4200")]).is_empty());
        assert!(
            hidden(&[one("It was built in", "1588"), one("and mended in", "1612"), one("and lost in", "1650")])
                .is_empty()
        );
        // The same step, but far apart.
        let mut given: Vec<_> = (0..9).map(|_| vec![("It pumps.", 80.0, 10.0)]).collect();
        given[0] = one("There were", "41");
        given[8] = one("There were", "49");
        assert!(hidden(&given).is_empty());
        assert_eq!((lone_number("xiv"), lone_number("mix"), lone_number("12345")), (Some((14, true)), None, None));
    }

    #[test]
    fn titles_and_the_lines_of_text_at_the_edge_of_a_page_stay() {
        let chapter = |title: &'static str, text: &'static str| {
            vec![
                (title, 40.0, 16.0),
                (text, 80.0, 12.0),
                ("If the seal leaks, replace it.", 94.0, 12.0),
                ("The shaft is to be checked.", 108.0, 12.0),
                ("Ask the operator first.", 122.0, 12.0),
                ("Note the result.", 136.0, 12.0),
            ]
        };
        let given = [
            chapter("Chapter 1", "The seal of model 1."),
            chapter("Chapter 2", "The seal of model 2."),
            chapter("Chapter 3", "The seal of model 3."),
            chapter("Chapter 4", "The seal of model 4."),
        ];
        assert!(hidden(&given).is_empty());
        // Rows of a table: each number grows, but not with the pages.
        let rows = |a: &'static str, b: &'static str| vec![(a, 60.0, 12.0), (b, 80.0, 12.0)];
        assert!(hidden(&[rows("1 a 10", "2 a 20"), rows("3 a 30", "4 a 40"), rows("5 a 50", "6 a 60")]).is_empty());
    }

    #[test]
    fn a_line_that_is_elsewhere_on_each_page_or_all_of_it_is_text() {
        let page = |top: f64| vec![("Stop.", top, 10.0), ("It pumps.", top + 60.0, 10.0)];
        assert!(hidden(&[page(40.0), page(90.0), page(140.0)]).is_empty());
        let all = || vec![("The handbook", 40.0, 10.0)];
        assert!(hidden(&[all(), all(), all(), all()]).is_empty());
    }

    #[test]
    fn frame_may_be_larger_than_the_text_or_close_to_it() {
        let page = |head: f64, foot: &'static str, size: f64| {
            let row = |i: u32| ("It pumps.", head + 28.0 * f64::from(i), 10.0);
            let mut lines = vec![("Pumps", 40.0, size)];
            lines.extend((0..5).map(row));
            lines.push((foot, 800.0, size));
            lines
        };
        let expected = ["Pumps", "Page 1 of 3", "Pumps", "Page 2 of 3", "Pumps", "Page 3 of 3"];
        // Larger letters; and a head that is not far from text with wide lines.
        for (head, size) in [(80.0, 14.0), (76.0, 10.0)] {
            let given = [
                page(head, "Page 1 of 3", size),
                page(head + 4.0, "Page 2 of 3", size),
                page(head, "Page 3 of 3", size),
            ];
            assert_eq!(hidden(&given), expected);
        }
    }

    #[test]
    fn the_titles_of_chapters_on_their_pages_are_frame() {
        let page = |title: &'static str, top: f64| vec![(title, 40.0, 10.0), ("It pumps.", top, 10.0)];
        let titles = ["The seal", "The motor", "The shaft", "The valve", "The tank", "The hose", "The well"];
        let given: Vec<_> = (0..28u32).map(|i| page(titles[i as usize / 4], 80.0 + f64::from(i) * 20.0)).collect();
        assert_eq!(hidden(&given).len(), 28);
        // On every second page, beside the title of the whole.
        let given: Vec<_> = (0..12u32)
            .map(|i| page(if i % 2 == 0 { "Pumps" } else { titles[i as usize / 4] }, 80.0 + f64::from(i) * 20.0))
            .collect();
        assert_eq!(hidden(&given).len(), 12);
    }
}
