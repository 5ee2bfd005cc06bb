//! The markers of list items.

/// Length of the marker that a line begins with, and of the blanks after it; for a description, of nothing: its term is
/// text.
pub(super) fn marker(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let run = text.chars().take_while(|&c| c == first).count() * first.len_utf8();
    let len = match first {
        '*' | '.' if run <= 5 => run,
        '-' | '•' if run == first.len_utf8() => run,
        '<' => {
            let number = text.strip_prefix('<')?.split('>').next()?;
            let good = number == "." || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
            good.then_some(number.len() + 2)?
        }
        c if c.is_ascii_alphanumeric() => {
            let len = text.bytes().take(10).take_while(u8::is_ascii_alphanumeric).count();
            let body = &text[..len];
            let digits = body.bytes().all(|b| b.is_ascii_digit());
            let roman = body.bytes().all(|b| b"ivxIVX".contains(&b));
            match text.as_bytes().get(len) {
                Some(b'.') if digits || len == 1 => len + 1,
                Some(b')') if roman => len + 1,
                _ => return None,
            }
        }
        _ => return None,
    };
    let rest = text.get(len..)?;
    let blanks = rest.len() - rest.trim_start().len();
    // A box to tick belongs to the marker.
    let ticked = ["[ ] ", "[x] ", "[*] "].iter().find(|tick| rest.trim_start().starts_with(**tick));
    (blanks > 0 && blanks < rest.len()).then(|| len + blanks + ticked.map_or(0, |tick| tick.len()))
}

/// A description: length of its term, and where the text after the colons begins (which may be the end).
pub(super) fn term(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(['\u{3a}', ';'])?;
        let marks = &text[at..];
        let mark = marks.as_bytes()[0];
        let run = marks.bytes().take_while(|&b| b == mark).count();
        let rest = &marks[run..];
        let long_enough = if mark == b':' { (2..=4).contains(&run) } else { run == 2 };
        if at > 0 && long_enough && (rest.is_empty() || rest.starts_with([' ', '\t'])) && !text.starts_with("//") {
            return Some((at, text.len() - rest.trim_start().len()));
        }
        from = at + run;
    }
}

#[cfg(test)]
mod tests {
    use super::{marker, term};

    #[test]
    fn markers() {
        for (text, len) in [
            ("* a", Some(2)),
            ("*** a", Some(4)),
            ("- a", Some(2)),
            (". a", Some(2)),
            ("12. a", Some(4)),
            ("a. b", Some(3)),
            ("iv) b", Some(4)),
            ("<1> b", Some(4)),
            ("* [x] done", Some(6)),
            ("*bold*", None),
            ("-- a", None),
            ("* ", None),
            ("e.g. a", None),
            ("1.5 a", None),
        ] {
            assert_eq!(marker(text), len, "{text}");
        }
        assert_eq!((term("CPU:: the brain"), term("CPU::"), term("a;; b")), (Some((3, 6)), Some((3, 5)), Some((1, 4))));
        assert_eq!((term("std::vec"), term("a: b"), term(":: b")), (None, None, None));
    }
}
