//! The shell of every page: head, styles, script, and a policy that lets nothing else in.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use pericope_util::sound;

const STYLE: &str = concat!(include_str!("report.css"), include_str!("svg/plot.css"));
const SCRIPT: &str = include_str!("report.js");

/// A page on its way, without its body.
#[derive(Debug, Default)]
pub(crate) struct Page<'a> {
    /// The title.
    pub title: &'a str,
    /// Styles beside those of every page.
    pub style: &'a str,
    /// A script beside that of every page.
    pub script: &'a str,
    /// Whether that script has data: JSON in which no `<` is left.
    pub data: bool,
    /// The address of a feed.
    pub feed: Option<&'a str>,
}

impl Page<'_> {
    /// Returns the whole document around a header and the content of `main`.
    pub fn render(&self, header: &Markup, main: &Markup) -> String {
        let (before, after) = self.around(header);
        before + &sound(&main.0) + &after
    }

    /// Returns the document in two parts, between which the content of `main` belongs.
    pub fn around(&self, header: &Markup) -> (String, String) {
        let (before, data, after) = self.parts(header);
        (before, data + &after)
    }

    /// Returns the document in three parts: what stands before the content of `main`, between it and the script's data,
    /// and after the data.
    pub fn parts(&self, header: &Markup) -> (String, String, String) {
        let (style, script) = (format!("{STYLE}{}", self.style), format!("{SCRIPT}{}", self.script));
        let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            hash(&style),
            hash(&script)
        );
        let before = html! {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (self.title) }
                @if let Some(feed) = self.feed { link rel="alternate" type="application/atom+xml" href=(feed); }
                style { (PreEscaped(&style)) }
            }
            "\n"
        };
        let top = html! { a class="skip" href="#main" { "Skip to the results" } (header) };
        let (open, close) = match self.data {
            true => ("<script type=\"application/json\" id=\"data\">", "</script>"),
            false => ("", ""),
        };
        let script = html! { script { (PreEscaped(&script)) } };
        let before = format!("{}\n<html lang=\"en\">{}<body>{}<main id=\"main\">", DOCTYPE.0, before.0, top.0);
        let after = format!("{close}{}</body></html>\n", script.0);
        (sound(&before).into_owned(), format!("</main>{open}"), sound(&after).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Page, SCRIPT, STYLE};
    use maud::html;

    #[test]
    fn style_and_script_stay_inside_their_elements() {
        for part in [STYLE, SCRIPT] {
            assert!(!part.contains("</") && !part.contains("<!--"));
        }
        assert_eq!(Page::default().render(&html! {}, &html! {}).matches("sha256-").count(), 2);
    }

    #[test]
    fn text_cannot_become_markup() {
        let hostile = "<script>'\"&]]>\u{202e}";
        let page =
            Page { title: hostile, ..Page::default() }.render(&html! {}, &html! { p title=(hostile) { (hostile) } });
        assert_eq!(page.matches("&lt;script&gt;'&quot;&amp;]]&gt;\u{fffd}").count(), 3, "{page}");
    }
}
