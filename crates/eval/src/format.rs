//! How numbers and names read. Nothing here ever prints `NaN` or `inf`: what is not a number is an en dash.

/// Stands for a value that was not measured.
pub const ABSENT: &str = "–";

/// `digits` decimals, with a true minus; never `−0.0`.
pub fn decimal(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return ABSENT.to_owned();
    }
    let plain = format!("{:.digits$}", x.abs());
    if x < 0.0 && plain.bytes().any(|b| b.is_ascii_digit() && b != b'0') { format!("−{plain}") } else { plain }
}

/// As [`decimal`], with `+` before what is above zero after rounding.
pub fn signed(x: f64, digits: usize) -> String {
    let plain = decimal(x, digits);
    let above = x > 0.0 && x.is_finite() && plain.bytes().any(|b| b.is_ascii_digit() && b != b'0');
    if above { format!("+{plain}") } else { plain }
}

/// A share 0..1 as `71.2 %`, the space being one that does not break.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{}\u{a0}%", decimal(100.0 * share, 1)) } else { ABSENT.to_owned() }
}

/// A whole number with commas: `12,345`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A mean that is a count at heart: `1,234`, or one decimal below a hundred.
pub fn mean(x: f64) -> String {
    match x.is_finite() {
        true if x.abs() < 99.95 => decimal(x, 1),
        // A mean of counts is far below 2^53, so rounding to an integer loses nothing that is shown.
        true => format!("{}{}", if x < 0.0 { "−" } else { "" }, count(x.abs().round() as usize)),
        false => ABSENT.to_owned(),
    }
}

/// A p-value: `< 0.001`, three decimals where two would hide on which side of 0.01 or 0.05 it lies, else two.
pub fn p_value(p: f64) -> String {
    if !p.is_finite() {
        ABSENT.to_owned()
    } else if p < 0.001 {
        "<\u{a0}0.001".to_owned()
    } else if p < 0.0095 || (0.045..0.055).contains(&p) {
        decimal(p, 3)
    } else {
        decimal(p, 2)
    }
}

/// `p = 0.02` or `p < 0.001`.
pub fn p_sentence(p: f64) -> String {
    let value = p_value(p);
    if value.starts_with('<') { format!("p\u{a0}{value}") } else { format!("p\u{a0}=\u{a0}{value}") }
}

/// A duration: `0.42 s`, `41.2 s`, `3 min 20 s`, `2 h 05 min`.
pub fn seconds(x: f64) -> String {
    if !x.is_finite() || x < 0.0 {
        return ABSENT.to_owned();
    }
    if x < 0.005 {
        return "<\u{a0}0.01\u{a0}s".to_owned();
    }
    if x < 9.995 {
        return format!("{x:.2}\u{a0}s");
    }
    if x < 119.95 {
        return format!("{x:.1}\u{a0}s");
    }
    let whole = x.round() as u64;
    if whole < 7200 {
        return format!("{}\u{a0}min {:02}\u{a0}s", whole / 60, whole % 60);
    }
    format!("{}\u{a0}h {:02}\u{a0}min", whole / 3600, whole % 3600 / 60)
}

/// A size in bytes: `812 B`, `3.4 MB` (decimal prefixes).
pub fn bytes(n: u64) -> String {
    let x = n as f64;
    match n {
        0..1_000 => format!("{n}\u{a0}B"),
        1_000..1_000_000 => format!("{:.1}\u{a0}kB", x / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1}\u{a0}MB", x / 1e6),
        _ => format!("{:.2}\u{a0}GB", x / 1e9),
    }
}

/// `1 question`, `624 questions`.
pub fn plural(n: usize, noun: &str) -> String {
    format!("{}\u{a0}{noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A list as prose: `a`, `a and b`, `a, b and c`.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// Names as prose, as [`listed`]: a name that holds a comma, as a spec may, stands in quotes, since it would read as two.
pub fn listed_names<S: AsRef<str>>(names: &[S]) -> String {
    let quoted = |name: &S| {
        let name = name.as_ref();
        if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() }
    };
    listed(&names.iter().map(quoted).collect::<Vec<String>>())
}

/// The first letter in upper case.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// At most `width` characters, the last an ellipsis where something was cut.
pub fn clipped(text: &str, width: usize) -> String {
    if text.chars().nth(width).is_none() {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::{
        bytes, clipped, count, decimal, listed, listed_names, mean, p_sentence, p_value, percent, seconds, signed,
    };

    #[test]
    fn nothing_prints_what_is_not_a_number() {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for text in [decimal(x, 1), signed(x, 1), percent(x), mean(x), p_value(x), seconds(x)] {
                assert_eq!(text, "–");
            }
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(signed(0.04, 1), "0.0");
        assert_eq!(signed(-0.05, 2), "−0.05");
        assert_eq!(signed(5.21, 1), "+5.2");
    }

    #[test]
    fn p_values_show_the_side_of_the_threshold() {
        assert_eq!(p_value(0.0003), "<\u{a0}0.001");
        assert_eq!(p_value(0.0042), "0.004");
        assert_eq!(p_value(0.0499), "0.050");
        assert_eq!(p_value(0.2345), "0.23");
        assert_eq!(p_sentence(0.0), "p\u{a0}<\u{a0}0.001");
    }

    #[test]
    fn counts_and_durations() {
        assert_eq!((count(0), count(999), count(1_234_567)), ("0".into(), "999".into(), "1,234,567".into()));
        assert_eq!(mean(1234.4), "1,234");
        assert_eq!(seconds(200.4), "3\u{a0}min 20\u{a0}s");
        assert_eq!(seconds(7_500.0), "2\u{a0}h 05\u{a0}min");
        assert_eq!(bytes(3_400_000), "3.4\u{a0}MB");
    }

    #[test]
    fn a_name_with_a_comma_is_one_name() {
        assert_eq!(listed_names(&["variance", "window, max", "fixed"]), "variance, \"window, max\" and fixed");
        assert_eq!(listed_names(&["window, max"]), "\"window, max\"");
        assert_eq!(listed_names::<&str>(&[]), "");
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clipped("äöüß", 4), "äöüß");
        assert_eq!(clipped("äöü ßx", 5), "äöü…");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
