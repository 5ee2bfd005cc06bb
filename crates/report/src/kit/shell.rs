//! What surrounds every page: head, styles, script, and a policy that lets nothing else in.

use sha2::{Digest, Sha256};

use crate::kit::markup::Markup;

const STYLE: &str = concat!(include_str!("report.css"), include_str!("../segmentation/plot/plot.css"));
const SCRIPT: &str = include_str!("report.js");

/// A whole document around `body`.
pub(crate) fn document(title: &str, body: impl FnOnce(&mut Markup)) -> String {
    with(title, "", "", None, body)
}

/// As [`document`], with further styles and the address of a feed.
pub(crate) fn document_with(title: &str, further: &str, feed: Option<&str>, body: impl FnOnce(&mut Markup)) -> String {
    with(title, further, "", feed, body)
}

/// The same with a style and a script of its own beside those of every page, and the address of a feed.
pub(crate) fn with(
    title: &str,
    style: &str,
    script: &str,
    feed: Option<&str>,
    body: impl FnOnce(&mut Markup),
) -> String {
    let (style, script) = (format!("{STYLE}{style}"), format!("{SCRIPT}{script}"));
    let mut m = Markup::default();
    m.raw("<!DOCTYPE html>\n");
    m.element("html", &[("lang", "en")], |m| {
        m.element("head", &[], |m| {
            m.empty("meta", &[("charset", "utf-8")]);
            let policy = format!(
                "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
                base64(&Sha256::digest(&style)),
                base64(&Sha256::digest(&script))
            );
            m.empty("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
            m.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            m.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            m.leaf("title", &[], title);
            if let Some(feed) = feed {
                m.empty("link", &[("rel", "alternate"), ("type", "application/atom+xml"), ("href", feed)]);
            }
            m.element("style", &[], |m| m.raw(&style));
        });
        m.line();
        m.element("body", &[], |m| {
            m.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the results");
            body(m);
            m.element("script", &[], |m| m.raw(&script));
        });
    });
    m.line();
    m.finish()
}

/// Base64 (RFC 4648, section 4, with padding).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i > group.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, STYLE, base64, document};

    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn style_and_script_stay_inside_their_elements() {
        for part in [STYLE, SCRIPT] {
            assert!(!part.contains("</") && !part.contains("<!--"));
        }
        assert_eq!(document("x", |_| ()).matches("sha256-").count(), 2);
    }
}
