//! The files that are served, with their types and tags.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::HeaderValue;
use pericope_util::sha256_hex;

use super::shell;

/// Hexadecimal digits of a tag.
const TAG: usize = 16;

/// A file as it is served.
#[derive(Debug)]
pub(super) struct Asset {
    /// The path, from `/`.
    pub path: &'static str,
    /// The media type.
    pub kind: &'static str,
    /// The bytes.
    pub body: Bytes,
    /// The entity tag: it changes with the bytes.
    pub tag: HeaderValue,
}

impl Asset {
    fn new(path: &'static str, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let mut digest = sha256_hex(&body);
        digest.truncate(TAG);
        let tag = HeaderValue::try_from(format!("\"{digest}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        Self { path, kind, body, tag }
    }
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The path, the type and the text of an embedded file.
macro_rules! embedded {
    ($($name:literal: $kind:expr),* $(,)?) => {
        [$((concat!("/assets/", $name), $kind, include_str!(concat!("assets/", $name)))),*]
    };
}

/// Returns everything that the pages consist of.
pub(super) fn all() -> &'static [Asset] {
    static ALL: LazyLock<Vec<Asset>> = LazyLock::new(|| {
        let files = embedded! {
            "align.js": SCRIPT, "api.js": SCRIPT, "bytes.js": SCRIPT, "chips.js": SCRIPT, "chunks.js": SCRIPT, "compare.js": SCRIPT,
            "document.js": SCRIPT, "dom.js": SCRIPT, "layout.js": SCRIPT, "modes.js": SCRIPT, "page.js": SCRIPT,
            "plot.js": SCRIPT, "search.js": SCRIPT, "side.js": SCRIPT, "spec.js": SCRIPT, "status.js": SCRIPT,
            "theme.js": SCRIPT,
            "style.css": "text/css; charset=utf-8",
            "icon.svg": "image/svg+xml",
        };
        let files = files.into_iter().map(|(path, kind, body)| Asset::new(path, kind, body));
        let pages =
            shell::PAGES.iter().map(|page| Asset::new(page.path, "text/html; charset=utf-8", shell::html(page)));
        let search_box = Asset::new("/searchbox.js", SCRIPT, include_str!("assets/searchbox.js"));
        files.chain(pages).chain([search_box]).collect()
    });
    &ALL
}
