//! The frame of an SVG file that needs nothing around it.

use maud::{Markup, PreEscaped, html};

use super::marks::{at, label};
use pericope_util::sound;

const STYLE: &str = concat!(include_str!("file.css"), include_str!("plot.css"));

/// Space for the title.
pub(crate) const TOP: f64 = 44.0;

/// Returns a file with its title drawn and spoken; `drawn` begins at [`TOP`].
pub(crate) fn document(title: &str, description: &str, (width, height): (f64, f64), drawn: &Markup) -> String {
    let (width, height) = (at(width), at(height));
    let file = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            role="img" class="chart" aria-labelledby="title description" {
            title id="title" { (title) }
            desc id="description" { (description) }
            style { (PreEscaped(STYLE)) }
            rect class="page" width="100%" height="100%" {}
            "\n"
            (label("title", 14.0, 27.0, title))
            (drawn)
        }
        "\n"
    };
    sound(&file.into_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{STYLE, document};
    use maud::html;

    #[test]
    fn the_style_may_stand_in_xml() {
        assert!(!STYLE.contains(['<', '&']));
        let svg = document("A & B \u{1b}", "x", (10.0, 10.0), &html! {});
        assert!(svg.contains("<title id=\"title\">A &amp; B \u{fffd}</title>") && svg.contains("<desc "), "{svg}");
    }
}
