//! The layout of Wiki-727K: one sentence a line, `========,LEVEL,TITLE.` before each section.

use super::{Segmented, from_segments};

/// Stands for a list that was left out of the article: the sentence goes.
const LIST: &str = "***LIST***";
/// Stand for parts of a sentence that were left out of it: the mark goes.
const INSIDE: [&str; 2] = ["***formula***", "***codice***"];

/// True for the line before a section, of whatever level.
pub(super) fn is_separator(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("========,") else { return false };
    rest.split_once(',').is_some_and(|(level, _)| !level.is_empty() && level.bytes().all(|b| b.is_ascii_digit()))
}

/// A file's document. Sections of every level are segments; what stands above the first heading is one too. As in the
/// original reader's default, sentences that stand for lists are dropped, marks of formulas and code are cut out of
/// their sentences, and sentences without a letter or digit left are dropped.
pub(super) fn parse(id: &str, text: &str) -> Result<Segmented, String> {
    let mut segments: Vec<Vec<String>> = vec![Vec::new()];
    let mut separators = 0;
    for line in text.lines() {
        if is_separator(line) {
            separators += 1;
            segments.push(Vec::new());
        } else if let (Some(segment), Some(sentence)) = (segments.last_mut(), cleaned(line)) {
            segment.push(sentence);
        }
    }
    if separators == 0 {
        return Err("it has no line '========,LEVEL,TITLE.'".into());
    }
    from_segments(id, &segments)
}

fn cleaned(line: &str) -> Option<String> {
    if line.trim().trim_end_matches('.') == LIST {
        return None;
    }
    let sentence = INSIDE.iter().fold(line.to_owned(), |sentence, mark| sentence.replace(mark, ""));
    sentence.chars().any(char::is_alphanumeric).then_some(sentence)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{is_separator, parse};

    #[test]
    fn sections_of_all_levels_with_marks_dropped() {
        let text = "========,1,preface.\nIt is a town.\n***LIST***.\n========,2,History.\n***formula***.\n\
            ========,3,Early days, and more.\nThe sum ***formula*** is small.\nLater.\n========,2,Empty.\n";
        let one = parse("1/2/3", text).unwrap();
        assert_eq!((one.document.len(), one.reference.after()), (3, &[1][..]));
        assert_eq!(one.document.sentence(1), "The sum  is small.");
        assert!(parse("x", "Just text.\n").is_err());
    }

    #[test]
    fn only_whole_marks_separate() {
        assert!(is_separator("========,10,Deep."));
        assert!(!is_separator("========,x,Title."));
        assert!(!is_separator("=========="));
    }
}
