//! Lines of scripts that are written from right to left: from the order in which their letters stand to that in which they
//! are read, and from the forms of letters to the letters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// True for letters of Hebrew, Arabic and the like. Their digits go from left to right.
pub(super) fn is_rtl(c: char) -> bool {
    let digit = matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}');
    !digit && (matches!(c, '\u{590}'..='\u{8ff}') || is_form(c))
}

/// True for the form of a letter at some place in a word.
fn is_form(c: char) -> bool {
    matches!(c, '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// True for what goes from left to right in any line.
fn is_ltr(c: char) -> bool {
    c.is_alphanumeric() && !is_rtl(c)
}

/// True for letters of other scripts.
fn is_other(c: char) -> bool {
    c.is_alphabetic() && !is_rtl(c)
}

/// True for such a letter itself, which its marks are not.
pub(super) fn is_rtl_letter(c: char) -> bool {
    is_rtl(c) && !is_combining_mark(c)
}

/// The text of a line as it is read; `starts` are the bytes at which its glyphs begin, one of which may stand for several
/// letters, and `visual_order` says that they come as they stand on the page, from left to right.
pub(super) fn read_order(text: &str, starts: &[usize], visual_order: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let ordered = if visual_order { reordered(text, starts) } else { text.to_owned() };
    for c in ordered.chars() {
        if is_form(c) {
            out.extend(std::iter::once(c).nfkc());
        } else {
            out.push(c);
        }
    }
    out
}

fn reordered(text: &str, starts: &[usize]) -> String {
    let mut glyphs = clusters(text, starts);
    let rtl = text.chars().filter(|&c| is_rtl(c)).count();
    let others = text.chars().filter(|&c| is_other(c)).count();
    if rtl > others {
        reverse(&mut glyphs);
    } else {
        // Pieces in a line that goes from left to right. Numbers between two words of a piece belong to it.
        for run in runs(&glyphs, |glyph| glyph.starts_with(is_rtl), |glyph| glyph.starts_with(is_other)) {
            reverse(&mut glyphs[run]);
        }
    }
    glyphs.concat()
}

/// Turns a line around, but for what goes from left to right in it. Brackets turn as well.
fn reverse(glyphs: &mut [&str]) {
    flip(glyphs);
    for run in runs(glyphs, |glyph| glyph.starts_with(is_ltr), |glyph| glyph.starts_with(is_rtl)) {
        flip(&mut glyphs[run]);
    }
}

fn flip(glyphs: &mut [&str]) {
    glyphs.reverse();
    for glyph in glyphs {
        *glyph = mirrored(glyph);
    }
}

/// What a bracket looks like in a line that goes the other way.
fn mirrored(glyph: &str) -> &str {
    match glyph {
        "(" => ")",
        ")" => "(",
        "[" => "]",
        "]" => "[",
        "{" => "}",
        "}" => "{",
        "<" => ">",
        ">" => "<",
        "«" => "»",
        "»" => "«",
        _ => glyph,
    }
}

/// The longest pieces that begin and end with what is `strong`, without anything that `ends` them.
fn runs(glyphs: &[&str], strong: fn(&str) -> bool, ends: fn(&str) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    let mut is_open = false;
    for (i, glyph) in glyphs.iter().enumerate() {
        if strong(glyph) {
            match runs.last_mut().filter(|_| is_open) {
                Some(run) => run.end = i + 1,
                None => runs.push(i..i + 1),
            }
            is_open = true;
        } else if ends(glyph) {
            is_open = false;
        }
    }
    runs
}

/// The glyphs of a line, each with the marks behind it. Where a mark stands before the first letter of a word, all stand
/// before their letters, and come behind them when the line is turned around.
fn clusters<'a>(text: &'a str, starts: &[usize]) -> Vec<&'a str> {
    let is_mark = |at: usize| text[at..].starts_with(is_combining_mark);
    let has_letter = |at: usize| text[..at].ends_with(|c: char| is_combining_mark(c) || c.is_alphabetic());
    let starts: Vec<usize> =
        starts.iter().copied().filter(|&at| at < text.len() && text.is_char_boundary(at)).collect();
    let marks_first = starts.iter().any(|&at| is_mark(at) && !has_letter(at));
    let mut firsts: Vec<usize> = starts.into_iter().filter(|&at| marks_first || !is_mark(at)).collect();
    firsts.insert(0, 0);
    firsts.dedup();
    let ends = firsts.iter().copied().skip(1).chain([text.len()]);
    firsts.iter().copied().zip(ends).map(|(start, end)| &text[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::read_order;

    /// The text of a line whose glyphs stand so on the page.
    fn read(glyphs: &[&str]) -> String {
        let lengths = glyphs.iter().scan(0, |at, glyph| {
            let start = *at;
            *at += glyph.len();
            Some(start)
        });
        read_order(&glyphs.concat(), &lengths.collect::<Vec<_>>(), true)
    }

    /// The same where each letter is a glyph.
    fn read_letters(text: &str) -> String {
        read_order(text, &text.char_indices().map(|(at, _)| at).collect::<Vec<_>>(), true)
    }

    #[test]
    fn lines_are_turned_around_but_for_numbers_and_latin_words() {
        let turned = |text: &str| read_letters(&text.chars().rev().collect::<String>());
        assert_eq!(turned("שלום עולם זה טקסט"), "שלום עולם זה טקסט");
        // As it stands on the page: the number and the Latin words are the right way round.
        assert_eq!(read_letters("2.5 GB םולש 17 םלוע"), "עולם 17 שלום 2.5 GB");
        assert_eq!(read_letters("Say םלוע 17 םולש to all"), "Say שלום 17 עולם to all");
        assert_eq!(read_order("שלום", &[0, 2, 4, 6], false), "שלום");
        assert_eq!(read_letters(""), "");
    }

    #[test]
    fn glyphs_of_several_letters_and_marks_stay_whole() {
        assert_eq!(read(&["م", "لا", "س"]), "سلام");
        // Marks behind their letters on the page, and before them.
        let pointed = "א\u{5b8}ב\u{5b7}ג\u{5b8}";
        assert_eq!(read(&["ג", "\u{5b8}", "ב", "\u{5b7}", "א", "\u{5b8}"]), pointed);
        assert_eq!(read(&["\u{5b8}", "ג", "\u{5b7}", "ב", "\u{5b8}", "א"]), pointed);
    }

    #[test]
    fn brackets_turn_with_the_line() {
        assert_eq!(read_letters("(םלוע) םולש"), "שלום (עולם)");
        assert_eq!(read_letters("(GB) םולש"), "שלום (GB)");
        assert_eq!(read_letters("f(x)=2 םולש"), "שלום f(x)=2");
    }

    #[test]
    fn forms_become_letters() {
        assert_eq!(read_letters("ﻢﻟﺎﻌﻟﺎﺑ ﺎﺒﺣﺮﻣ"), "مرحبا بالعالم");
        assert_eq!(read_order("\u{fefb}", &[0], false), "\u{644}\u{627}");
        assert_eq!(read_letters("ﬁne"), "ﬁne");
    }
}
