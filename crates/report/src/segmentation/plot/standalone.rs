//! The frame of an SVG file that needs nothing around it.

use crate::kit::markup::Markup;
use crate::kit::svg::{at, label};

const STYLE: &str = concat!(include_str!("standalone.css"), include_str!("plot.css"));

/// Space for the title.
pub(super) const TOP: f64 = 44.0;

/// A file with its title drawn and spoken; `body` draws from [`TOP`] on.
pub(super) fn document(
    title: &str,
    description: &str,
    (width, height): (f64, f64),
    body: impl FnOnce(&mut Markup),
) -> String {
    let mut m = Markup::default();
    let view = format!("0 0 {} {}", at(width), at(height));
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("viewBox", view.as_str()),
        ("width", &at(width)),
        ("height", &at(height)),
        ("role", "img"),
        ("class", "chart"),
        ("aria-labelledby", "title description"),
    ];
    m.element("svg", &attributes, |m| {
        m.leaf("title", &[("id", "title")], title);
        m.leaf("desc", &[("id", "description")], description);
        m.element("style", &[], |m| m.raw(STYLE));
        m.empty("rect", &[("class", "page"), ("width", "100%"), ("height", "100%")]);
        m.line();
        label(m, "title", 14.0, 27.0, title);
        body(m);
    });
    m.line();
    m.finish()
}

#[cfg(test)]
mod tests {
    use super::{STYLE, document};

    #[test]
    fn the_style_may_stand_in_xml() {
        assert!(!STYLE.contains(['<', '&']));
        let svg = document("A & B", "x", (10.0, 10.0), |_| ());
        assert!(svg.contains("<title id=\"title\">A &amp; B</title>") && svg.contains("<desc "));
    }
}
