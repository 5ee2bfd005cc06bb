use pericope_util::xml_text;

use crate::format;

/// Letters of either half at most.
const LETTERS: usize = 60;
/// Pixels on either side of a word.
const MARGIN: f64 = 6.0;

/// The colour of a badge's right half. White letters on each have a contrast of at least 4.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// All is well.
    Green,
    /// Something failed.
    Red,
    /// Neither good nor bad.
    Blue,
    /// It failed, and was accepted.
    Amber,
}

impl Colour {
    fn hex(self) -> &'static str {
        match self {
            Colour::Green => "#1a7f37",
            Colour::Red => "#c62828",
            Colour::Blue => "#0b63b0",
            Colour::Amber => "#946200",
        }
    }
}

/// Returns a badge as SVG: `label` in grey, `message` in the colour, for a page that shows pictures. It loads nothing.
///
/// The letters are fitted into their places (`textLength`), so it looks alike whatever font there is.
#[must_use]
pub fn badge(label: &str, message: &str, colour: Colour) -> String {
    let (label, message) = (format::clipped(label, LETTERS), format::clipped(message, LETTERS));
    let (left, right) = (width(&label), width(&message));
    let (a, b) = (left + 2.0 * MARGIN, right + 2.0 * MARGIN);
    let total = a + b;
    let (at_label, at_message) = (a / 2.0, a + b / 2.0);
    let (label, message) = (xml_text(&label), xml_text(&message));
    let colour = colour.hex();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total:.1}\" height=\"20\" role=\"img\" \
         aria-label=\"{label}: {message}\">\n\
         <title>{label}: {message}</title>\n\
         <clipPath id=\"r\"><rect width=\"{total:.1}\" height=\"20\" rx=\"3\"/></clipPath>\n\
         <g clip-path=\"url(#r)\"><rect width=\"{a:.1}\" height=\"20\" fill=\"#444c56\"/>\
         <rect x=\"{a:.1}\" width=\"{b:.1}\" height=\"20\" fill=\"{colour}\"/></g>\n\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,Geneva,sans-serif\" font-size=\"11\">\n\
         <text x=\"{at_label:.1}\" y=\"14\" textLength=\"{left:.1}\">{label}</text>\n\
         <text x=\"{at_message:.1}\" y=\"14\" textLength=\"{right:.1}\">{message}</text>\n\
         </g>\n</svg>\n"
    )
}

/// Pixels that a text takes in 11 px Verdana, nearly.
fn width(text: &str) -> f64 {
    let letter = |c: char| match c {
        'i' | 'l' | 'j' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '\u{a0}' => 3.9,
        'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 4.8,
        'm' | 'w' | 'M' | 'W' | '%' => 10.5,
        'A'..='Z' | '+' | '=' | '<' | '>' | '−' => 8.0,
        c if c.is_ascii() => 6.8,
        c if u32::from(c) >= 0x1100 => 11.0,
        _ => 7.0,
    };
    text.chars().map(letter).sum::<f64>().max(1.0)
}
