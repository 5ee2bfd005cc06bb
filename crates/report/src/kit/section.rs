//! Sections of a page.

use super::markup::Markup;

/// A section with its heading.
pub(crate) fn section(m: &mut Markup, id: &str, title: &str, body: impl FnOnce(&mut Markup)) {
    let heading = format!("{id}-title");
    m.element("section", &[("id", id), ("aria-labelledby", &heading)], |m| {
        m.leaf("h2", &[("id", &heading)], title);
        m.line();
        body(m);
    });
    m.line();
}
