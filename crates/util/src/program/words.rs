use super::ProgramError;

/// Splits a command into its program and arguments, without a shell: nothing is expanded or redirected.
///
/// Blanks separate words. Quotes (`'...'` or `"..."`) keep blanks together. A backslash outside single quotes takes the next
/// character as it is where that is a blank, a quote or a backslash; elsewhere it stands for itself, so that paths of Windows
/// can be written as they are.
///
/// ```
/// use pericope_util::command_words;
///
/// let words = command_words(r#"python3 'my script.py' --size=400 C:\data\x.txt"#)?;
/// assert_eq!(words, ["python3", "my script.py", "--size=400", r"C:\data\x.txt"]);
/// # Ok::<(), pericope_util::ProgramError>(())
/// ```
///
/// # Errors
/// [`ProgramError::Words`] for a quote that is not closed, a character NUL, and a text without a word.
pub fn command_words(text: &str) -> Result<Vec<String>, ProgramError> {
    let mut words = Vec::new();
    // `None` between words: an empty pair of quotes is a word too.
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\0', _) => return Err(ProgramError::Words("the command holds a character NUL".into())),
            ('\\', None | Some('"')) => {
                let escaped = letters.next_if(|next| matches!(next, '\\' | '"' | '\'') || next.is_whitespace());
                word.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(ProgramError::Words(format!("a quote {open} is not closed in the command")));
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        return Err(ProgramError::Words("no program is named".into()));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::command_words;

    #[test]
    fn words_quotes_and_backslashes() {
        for (text, words) in [
            ("a b  c", &["a", "b", "c"][..]),
            (" a ", &["a"]),
            ("'a b' c", &["a b", "c"]),
            (r#""a b"c"#, &["a bc"]),
            (r#"a "" b"#, &["a", "", "b"]),
            (r"a\ b", &["a b"]),
            (r"C:\py\python.exe x", &[r"C:\py\python.exe", "x"]),
            (r"'\\server\x'", &[r"\\server\x"]),
            (r#""say \"hi\"""#, &["say \"hi\""]),
            (r"it\'s", &["it's"]),
            ("a $HOME > x; rm y", &["a", "$HOME", ">", "x;", "rm", "y"]),
            ("tab\there", &["tab", "here"]),
        ] {
            assert_eq!(command_words(text).unwrap(), words, "{text}");
        }
        for wrong in ["", "  ", "'a", "a \"b", "''", "a\0b"] {
            assert!(command_words(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn words_in_single_quotes_come_back(words in proptest::collection::vec("[^'\\x00]{0,9}", 1..5)) {
            prop_assume!(!words[0].is_empty());
            let text: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(command_words(&text.join(" ")).unwrap(), words);
        }
    }
}
