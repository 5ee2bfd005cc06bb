use pericope_api::{Document, Format};

/// Longer file endings are no types of files.
const MAX_ENDING: usize = 8;

/// Returns the type of a document's file: `md`, `html`, `rst`, `adoc`, else as [`file_type_of`] its id.
#[must_use]
pub fn file_type(document: &Document) -> String {
    match document.format {
        Format::Markdown => "md".to_owned(),
        Format::Html => "html".to_owned(),
        Format::Rst => "rst".to_owned(),
        Format::Asciidoc => "adoc".to_owned(),
        _ => file_type_of(&document.id),
    }
}

/// Returns the type of a file by its name: the ending in lower case if it is short, else `txt`.
///
/// ```
/// # use pericope_store::file_type_of;
/// assert_eq!(file_type_of("guide/Start.MARKDOWN"), "md");
/// assert_eq!(file_type_of("v1.2/README"), "txt");
/// ```
#[must_use]
pub fn file_type_of(path: &str) -> String {
    let ending = || {
        let name = path.rsplit('/').next().unwrap_or("");
        let (stem, ending) = name.rsplit_once('.')?;
        let short = !stem.is_empty() && (1..=MAX_ENDING).contains(&ending.len());
        (short && ending.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(ending)
    };
    canonical_type(ending().unwrap_or("txt"))
}

/// Returns one name for endings that mean the same: `markdown` is `md`, `htm` is `html`, `text` is `txt`.
#[must_use]
pub fn canonical_type(name: &str) -> String {
    let name = name.trim_start_matches('.').to_ascii_lowercase();
    match name.as_str() {
        "markdown" | "mdown" | "mkd" | "mdx" => "md",
        "htm" | "xhtml" => "html",
        "text" | "plain" => "txt",
        "asciidoc" | "asc" => "adoc",
        "rest" => "rst",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_formats_or_endings() {
        let of = |id: &str, format| file_type(&Document { format, ..Document::from_sentences(id, &["x"]) });
        assert_eq!(of("a/b.mdx", Format::Markdown), "md");
        assert_eq!(of("17", Format::Html), "html");
        // A line of JSON need not be called as a file of its format is.
        assert_eq!((of("17", Format::Rst), of("18", Format::Asciidoc)), ("rst".to_owned(), "adoc".to_owned()));
        assert_eq!((of("a.asc", Format::Asciidoc), canonical_type("asc")), ("adoc".to_owned(), "adoc".to_owned()));
        assert_eq!(of("a/b.RST", Format::Plain), "rst");
        // `markdown` has eight letters, as many as an ending may have.
        assert_eq!(of("a/b.markdown", Format::Plain), "md");
        for id in ["README", "a.b/README", ".profile", "a.name too long", "a.tar.longending", "x."] {
            assert_eq!(of(id, Format::Plain), "txt", "{id}");
        }
    }
}
