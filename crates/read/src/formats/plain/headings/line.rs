//! What a line looks like: the forms of headings.

use super::words::{KNOWN, NUMBERED, NUMBERS, UNITS};

/// Longest heading of plain text, in characters and in words.
const LONGEST: (usize, usize) = (100, 12);
/// Most words of a numbered heading that ends with a full stop.
const FULL_STOP: usize = 6;
/// Most parts of a number: `1.2.3.4.5`.
const PARTS: usize = 5;

/// What makes a heading of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Of that level by more than its form.
    Given(u8),
    /// As many signs as its level on both sides: `== History ==`.
    Marked(u8),
    /// A line of that sign under it.
    Underlined(u8),
    /// A word and a number: `Chapter 3`, `第3章`; which of the words.
    Word(usize),
    /// `2.1 Animals`.
    Number(Vec<u16>),
    /// `IV. Results`, or `IV` alone.
    Roman(u16),
    /// `B. Results`.
    Letter(u16),
    /// `二、方法`.
    Han(u16),
    /// `TERMS OF USE`.
    Capitals,
    /// `References`.
    Known,
}

/// Returns the form of a line without blanks at its ends, and the bytes of it that are not signs around it.
pub(super) fn form(line: &str) -> Option<(Form, (usize, usize))> {
    if line.is_empty() || line.len() > 4 * LONGEST.0 || line.chars().count() > LONGEST.0 {
        return None;
    }
    if let Some((level, inner)) = line.starts_with('=').then(|| marked(line)).flatten() {
        let start = inner.as_ptr().addr() - line.as_ptr().addr();
        return Some((Form::Marked(level), (start, start + inner.len())));
    }
    let form = worded(line)
        .map(Form::Word)
        .or_else(|| numbered(line).map(Form::Number))
        .or_else(|| enumerated(line))
        .or_else(|| han(line).map(Form::Han))
        .or_else(|| is_known(line).then_some(Form::Known))
        .or_else(|| is_capitals(line).then_some(Form::Capitals))?;
    Some((form, (0, line.len())))
}

/// True for a word and a number without a title, as those that are over it: `CHAPTER I.`
pub(super) fn is_untitled(line: &str) -> bool {
    line.split_whitespace().count() == 2 && !line.starts_with(['§', '第', '제']) && worded(line).is_some()
}

/// True for a line that may be the title of the chapter whose number is in the line before, and no sentence.
pub(super) fn may_be_title(line: &str) -> bool {
    let is_sentence = line.ends_with('.') && line.contains(char::is_lowercase);
    begins(line) && is_title(line) && ends(line) && !is_sentence && worded(line).is_none()
}

/// True for words that may stand under a line of signs, or after a number.
pub(super) fn is_title(text: &str) -> bool {
    let columns = text.contains("  ") || text.contains(['\t', '|']) || text.contains("..") || text.contains(". .");
    !columns && text.contains(char::is_alphabetic) && text.split_whitespace().count() <= LONGEST.1
}

/// `= Title =` with one sign or more on both sides, with blanks between them or not, as wikis have it.
fn marked(line: &str) -> Option<(u8, &str)> {
    let is_mark = |c: char| c == '=' || c == ' ';
    let level = |text: &str| text.bytes().filter(|b| *b == b'=').count();
    let inner = line.trim_start_matches(is_mark);
    let title = inner.trim_end_matches(is_mark);
    let (before, after) = (level(&line[..line.len() - inner.len()]), level(&inner[title.len()..]));
    // A single pair of signs stands apart from the words: `=x=` is none.
    let is_apart = before > 1 || line.starts_with("= ");
    // `== 2000 – 2005 ==`
    let is_years = before > 1
        && title.starts_with(|c: char| c.is_ascii_digit())
        && title.chars().all(|c| c.is_ascii_digit() || " -–".contains(c))
        && title.len() >= 4;
    let is_heading = before == after && before > 0 && is_apart && !title.contains('=') && (is_title(title) || is_years);
    u8::try_from(before).ok().filter(|level| is_heading && *level <= 6).map(|level| (level, title))
}

/// `Chapter 3`, `Article IV - Powers`, `§ 5`, `第3章`, `제1조`; answers which word that is.
fn worded(line: &str) -> Option<usize> {
    if let Some(rest) = line.strip_prefix(['第', '제']) {
        let rest = rest.trim_start_matches(|c: char| {
            c.is_ascii_digit() || "０１２３４５６７８９〇零一二三四五六七八九十百".contains(c)
        });
        let unit = rest.chars().next()?;
        let which = UNITS.iter().position(|&known| known == unit)?;
        // `제1조에` is a word of a sentence.
        let is_word = line.starts_with('제') && rest.chars().nth(1).is_some_and(char::is_alphanumeric);
        let is_text =
            is_word || rest.ends_with('.') || rest.contains(['。', '，', '、', '；']) || rest.chars().count() > 30;
        return (!is_text && rest.len() + '第'.len_utf8() < line.len()).then_some(NUMBERED.len() + 1 + which);
    }
    let (which, rest) = if let Some(rest) = line.strip_prefix('§') {
        (NUMBERED.len(), rest)
    } else {
        let (word, rest) = line.split_once(char::is_whitespace)?;
        let lower = word.to_lowercase();
        if word.starts_with(char::is_lowercase) {
            return None;
        }
        (NUMBERED.iter().position(|known| *known == lower)?, rest)
    };
    let rest = rest.trim_start();
    let (token, title) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let bare = token.trim_end_matches(['.', ':', ')', '-', '–', '—']);
    let is_apart = bare.len() < token.len();
    // `Article 1er`
    let number = bare.strip_suffix("er").filter(|rest| rest.bytes().all(|b| b.is_ascii_digit())).unwrap_or(bare);
    let title = title.trim_start();
    let words = title.trim_start_matches(['-', '–', '—', ':', '.', ' ']);
    let is_apart = is_apart || words.len() < title.len();
    let is_number =
        number.split('.').all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
            || roman(&number.to_uppercase()).is_some()
            || (number.len() == 1 && number.bytes().all(|b| b.is_ascii_uppercase()))
            || NUMBERS.contains(&number.to_lowercase().as_str());
    let is_heading = words.is_empty() || ((is_apart || begins(words)) && is_title(words) && ends(words));
    (is_number && is_heading).then_some(which)
}

/// `2 Methods`, `2.1. Animals`, `3) Results`.
fn numbered(line: &str) -> Option<Vec<u16>> {
    let end = line.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = line.split_at(end);
    let bare = number.strip_suffix('.').unwrap_or(number);
    let rest = rest.strip_prefix(')').filter(|_| !number.contains('.')).unwrap_or(rest);
    let title = rest.trim_start();
    let is_apart = title.len() < rest.len() || bare.len() < number.len();
    if bare.is_empty() || !is_apart || !begins(title) || !is_title(title) || !ends(title) {
        return None;
    }
    let parts = bare.split('.').map(|part| part.parse().ok().filter(|_| part.len() <= 2));
    parts.collect::<Option<Vec<u16>>>().filter(|parts| parts.len() <= PARTS)
}

/// `IV. Results`, `B. Results`, and `IV` by itself.
fn enumerated(line: &str) -> Option<Form> {
    let (token, title) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let number = token.strip_suffix(['.', ')']).unwrap_or(token);
    let title = title.trim_start();
    let with_title = number.len() < token.len() && begins(title) && is_title(title) && ends(title);
    match roman(number) {
        Some(value) if title.is_empty() || with_title => Some(Form::Roman(value)),
        _ => {
            let letter = number.bytes().next().filter(|b| number.len() == 1 && b.is_ascii_uppercase())?;
            with_title.then(|| Form::Letter(u16::from(letter - b'A') + 1))
        }
    }
}

/// The number of `二、方法`, from one to ninety-nine.
fn han(line: &str) -> Option<u16> {
    let (number, title) = line.split_once('、')?;
    let one =
        |text: &str| ["一", "二", "三", "四", "五", "六", "七", "八", "九"].iter().position(|known| *known == text);
    let value = match number.split_once('十') {
        None => one(number)? + 1,
        Some((tens, ones)) => {
            let tens = if tens.is_empty() { 1 } else { one(tens)? + 1 };
            10 * tens + if ones.is_empty() { 0 } else { one(ones)? + 1 }
        }
    };
    let is_text = title.contains(['。', '，', '、', '；']) || title.chars().count() > 30;
    let is_heading = !is_text && begins(title) && is_title(title) && ends(title);
    u16::try_from(value).ok().filter(|_| is_heading)
}

fn is_known(line: &str) -> bool {
    let bare = line.strip_suffix(':').unwrap_or(line);
    line.starts_with(char::is_uppercase) && KNOWN.contains(&bare.to_lowercase().as_str())
}

fn is_capitals(line: &str) -> bool {
    let (mut capitals, mut others) = (0, 0);
    for c in line.chars() {
        if c.is_lowercase() || !(c.is_alphanumeric() || " -–—'’\"“”&,:()./!?".contains(c)) {
            return false;
        }
        *(if c.is_uppercase() { &mut capitals } else { &mut others }) += usize::from(c.is_alphanumeric());
    }
    let most = line.split(|c: char| !c.is_alphabetic()).map(|word| word.chars().count()).max();
    capitals >= 4
        && others < capitals
        && most >= Some(3)
        && is_title(line)
        // `(APPLAUSE)`, `"WHO GOES THERE?"`
        && !line.starts_with(['(', '"', '“', '«', '„'])
        && !line.ends_with([',', '.', ':', '/', '-'])
}

/// True where words begin as a title does.
fn begins(title: &str) -> bool {
    let first = title.trim_start_matches(['"', '\'', '“', '‘', '«', '„', '「', '(']).chars().next();
    first.is_some_and(|c| c.is_alphabetic() && !c.is_lowercase())
}

/// True where words end as a title does. A full stop ends short ones.
fn ends(title: &str) -> bool {
    let short = title.split_whitespace().count() <= FULL_STOP && !title.contains(['。', '，']);
    !title.ends_with([',', ';', ':', '。', '，', '；', '：', '、', '!', '！']) && (!title.ends_with('.') || short)
}

/// The value of a Roman number in capital letters below 50.
fn roman(text: &str) -> Option<u16> {
    let ones = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"];
    let tens = ["", "X", "XX", "XXX", "XL"];
    let (ten, rest) = (0..tens.len()).rev().find_map(|ten| Some((ten, text.strip_prefix(tens[ten])?)))?;
    let one = ones.iter().position(|known| *known == rest)?;
    u16::try_from(10 * ten + one).ok().filter(|value| *value > 0)
}

#[cfg(test)]
mod tests {
    use super::{Form, form, roman};

    fn shown(line: &str) -> Option<(Form, &str)> {
        form(line).map(|(form, (start, end))| (form, &line[start..end]))
    }

    #[test]
    fn forms_of_headings() {
        for (line, expected) in [
            ("== History ==", (Form::Marked(2), "History")),
            ("= = Early life = =", (Form::Marked(2), "Early life")),
            ("= = = 2000 – 2005 = = =", (Form::Marked(3), "2000 – 2005")),
            ("= Title =", (Form::Marked(1), "Title")),
            ("2.1 Animals", (Form::Number(vec![2, 1]), "2.1 Animals")),
            ("12.  \u{201c}Fees\u{201d}", (Form::Number(vec![12]), "12.  \u{201c}Fees\u{201d}")),
            ("3) What is it?", (Form::Number(vec![3]), "3) What is it?")),
            ("1.概要", (Form::Number(vec![1]), "1.概要")),
            ("IV. Results", (Form::Roman(4), "IV. Results")),
            ("XII", (Form::Roman(12), "XII")),
            ("B. Results", (Form::Letter(2), "B. Results")),
            ("二、方法", (Form::Han(2), "二、方法")),
            ("二十一、附则", (Form::Han(21), "二十一、附则")),
            ("TERMS OF USE", (Form::Capitals, "TERMS OF USE")),
            ("References", (Form::Known, "References")),
            ("Zusammenfassung:", (Form::Known, "Zusammenfassung:")),
        ] {
            assert_eq!(shown(line), Some(expected), "{line:?}");
        }
        for line in [
            "CHAPTER I. Down the Hill",
            "Chapter One",
            "Article 5",
            "Kapitel 3: Der Weg",
            "Appendix A",
            "Article 1er - Objet",
            "Titre premier",
            "CAPÍTULO PRIMERO",
            "§ 5 Fristen",
            "§12",
            "第3章 概要",
            "第一章总则",
            "Глава 2",
            "Глава первая. Дорога",
            "제1장 총칙",
            "제12조(목적)",
            "Section 1.2 - Scope",
        ] {
            assert!(matches!(form(line), Some((Form::Word(_), _))), "{line:?}");
        }
    }

    #[test]
    fn what_is_no_heading() {
        for line in [
            "",
            "A plain sentence of words.",
            "Getting started",
            "1",
            "17.",
            "3.5 percent of all",
            "2 eggs",
            "- 1. One",
            "1. Introduction ........ 3",
            "1999 Annual report",
            "Section 5 applies to all.",
            "Part of it",
            "Article premier de la loi",
            "I Love You",
            "a. lower",
            "OK",
            "ERROR 404 4711 0815",
            "SELECT * FROM T;",
            "NAME     AGE",
            "NOTE:",
            "x = y = z",
            "=x=",
            "====",
            "== - - ==",
            "== 12 ==",
            "a == b",
            "#hashtag",
            "# ",
            "第一条 为了保护，制定本法。",
            "一、为了保护，制定本法。",
            "一、二、三",
            "東京、大阪",
            "1. This one is a whole sentence of many words that ends.",
            "== a = b ==",
            "Chapter 3 explains how it is done",
            "HELLO, WORLD,",
            "(APPLAUSE)",
            "\"WHO GOES THERE?\"",
            "제1조에 따라",
            "제1조 (목적) 이 법은 짧다.",
            "Глава первая рассказывает о нём",
        ] {
            assert_eq!(shown(line), None, "{line:?}");
        }
    }

    #[test]
    fn roman_numbers_have_one_way_of_writing() {
        assert_eq!(["I", "IV", "XIX", "XLIX"].map(roman), [Some(1), Some(4), Some(19), Some(49)]);
        assert_eq!(["", "IIII", "VX", "L", "IL", "i"].map(roman), [None; 6]);
    }
}
