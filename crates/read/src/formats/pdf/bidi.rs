//! Lines of scripts that are written from right to left: from the order in which their letters stand to that in which they
//! are read, and from the forms of letters to the letters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// True for letters of Hebrew, Arabic and the like. Their digits go from left to right.
pub(super) fn is_leftward(c: char) -> bool {
    let digit = matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}');
    !digit && (matches!(c, '\u{590}'..='\u{8ff}') || is_form(c))
}

/// True for the form of a letter at some place in a word.
fn is_form(c: char) -> bool {
    matches!(c, '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// True for what goes from left to right in any line.
fn is_rightward(c: char) -> bool {
    c.is_alphanumeric() && !is_leftward(c)
}

/// True for letters of other scripts.
fn is_other(c: char) -> bool {
    c.is_alphabetic() && !is_leftward(c)
}

/// The text of a line as it is read; `as_seen` says that it comes as it stands on the page, from left to right.
pub(super) fn read_order(text: &str, as_seen: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let ordered = if as_seen { reordered(text) } else { text.to_owned() };
    for c in ordered.chars() {
        if is_form(c) {
            out.extend(std::iter::once(c).nfkc());
        } else {
            out.push(c);
        }
    }
    out
}

fn reordered(text: &str) -> String {
    let mut letters = letters(text);
    let leftward = text.chars().filter(|&c| is_leftward(c)).count();
    let others = text.chars().filter(|&c| is_other(c)).count();
    if leftward > others {
        turn(&mut letters);
    } else {
        // Pieces in a line that goes from left to right. Numbers between two words of a piece belong to it.
        for run in runs(&letters, |letter| letter.starts_with(is_leftward), |letter| letter.starts_with(is_other)) {
            turn(&mut letters[run]);
        }
    }
    letters.concat()
}

/// Turns a line around, but for what goes from left to right in it.
fn turn(letters: &mut [&str]) {
    letters.reverse();
    let inner = runs(letters, |letter| letter.starts_with(is_rightward), |letter| letter.starts_with(is_leftward));
    for run in inner {
        letters[run].reverse();
    }
}

/// The longest pieces that begin and end with what is `strong`, without anything that `ends` them.
fn runs(letters: &[&str], strong: fn(&str) -> bool, ends: fn(&str) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    let mut is_open = false;
    for (i, letter) in letters.iter().enumerate() {
        if strong(letter) {
            match runs.last_mut().filter(|_| is_open) {
                Some(run) => run.end = i + 1,
                None => runs.push(i..i + 1),
            }
            is_open = true;
        } else if ends(letter) {
            is_open = false;
        }
    }
    runs
}

/// The letters of a text, each with its marks.
fn letters(text: &str) -> Vec<&str> {
    let starts: Vec<usize> =
        text.char_indices().filter(|&(at, c)| at == 0 || !is_combining_mark(c)).map(|(at, _)| at).collect();
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| &text[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::read_order;

    #[test]
    fn lines_are_turned_around_but_for_numbers_and_latin_words() {
        let turned = |text: &str| read_order(&text.chars().rev().collect::<String>(), true);
        assert_eq!(turned("שלום עולם זה טקסט"), "שלום עולם זה טקסט");
        // As it stands on the page: the number and the Latin words are the right way round.
        assert_eq!(read_order("2.5 GB םולש 17 םלוע", true), "עולם 17 שלום 2.5 GB");
        assert_eq!(read_order("Say םלוע 17 םולש to all", true), "Say שלום 17 עולם to all");
        assert_eq!(read_order("שלום", false), "שלום");
    }

    #[test]
    fn forms_become_letters() {
        assert_eq!(read_order("ﻢﻟﺎﻌﻟﺎﺑ ﺎﺒﺣﺮﻣ", true), "مرحبا بالعالم");
        assert_eq!(read_order("\u{fefb}", false), "\u{644}\u{627}");
        assert_eq!(read_order("ﬁne", true), "ﬁne");
    }
}
