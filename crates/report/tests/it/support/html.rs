//! A reader of our own pages that accepts nothing sloppy: every element closed in order, every attribute quoted; and
//! the form in which pages are kept as snapshots.

use std::collections::BTreeSet;

const VOID: [&str; 3] = ["meta", "br", "link"];
const SHAPES: [&str; 6] = ["circle", "polygon", "polyline", "line", "rect", "path"];
/// Elements that stay on the line of the text around them in a snapshot.
const INLINE: [&str; 11] = ["a", "b", "code", "mark", "span", "strong", "title", "text", "dd", "summary", "td"];

/// A start tag and its attributes, values as in the source.
#[derive(Debug)]
pub struct Tag {
    pub name: String,
    pub attributes: Vec<(String, String)>,
}

impl Tag {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// The start tags of a page, in order.
///
/// # Panics
/// With what is wrong and where, if the page is not well formed.
pub fn tags(page: &str) -> Vec<Tag> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a page begins with its doctype");
    let (mut found, mut open): (Vec<Tag>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        entities(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(closing) = rest.strip_prefix('/') {
            let end = closing.find('>').expect("an end tag ends");
            assert_eq!(open.pop().as_deref(), Some(&closing[..end]), "closed out of order near {}", near(closing));
            rest = &closing[end + 1..];
            continue;
        }
        let (tag, empty, after) = start(rest);
        rest = after;
        if VOID.contains(&tag.name.as_str()) {
            // Holds nothing and has no end tag.
        } else if empty {
            assert!(SHAPES.contains(&tag.name.as_str()), "<{}/> is not an empty element", tag.name);
        } else if matches!(tag.name.as_str(), "script" | "style") {
            let close = format!("</{}>", tag.name);
            let end = rest.find(&close).unwrap_or_else(|| panic!("{close} is missing"));
            rest = &rest[end + close.len()..];
        } else {
            open.push(tag.name.clone());
        }
        found.push(tag);
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    assert_eq!(rest.trim(), "", "text after the end");
    found
}

fn start(source: &str) -> (Tag, bool, &str) {
    let end = source.find(|c: char| !c.is_ascii_alphanumeric()).expect("a tag ends");
    assert!(end > 0, "a stray < near {}", near(source));
    let name = source[..end].to_owned();
    let (mut rest, mut attributes) = (&source[end..], Vec::<(String, String)>::new());
    loop {
        if let Some(after) = rest.strip_prefix("/>") {
            return (Tag { name, attributes }, true, after);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (Tag { name, attributes }, false, after);
        }
        let body = rest.strip_prefix(' ').unwrap_or_else(|| panic!("a space belongs near {}", near(rest)));
        let (key, after) = body.split_once("=\"").expect("attributes have quoted values");
        assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "attribute {key:?}");
        let (value, after) = after.split_once('"').expect("attributes end");
        assert!(!value.contains('<'), "a raw < in {key}");
        entities(value);
        assert!(attributes.iter().all(|(other, _)| other != key), "{key} twice in <{name}>");
        attributes.push((key.to_owned(), value.to_owned()));
        rest = after;
    }
}

/// Every ampersand begins one of the five entities that the writer uses, and no control character is left.
fn entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|e| text[at..].starts_with(e)), "a raw & near {}", near(&text[at..]));
    }
    assert!(!text.chars().any(|c| c.is_control() && !"\n\t\r".contains(c)), "a control character near {}", near(text));
}

fn near(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Checks what holds for every page: one language, one title, unique ids, references that lead somewhere, nothing
/// loaded from anywhere, charts with names, tables with captions and scoped heads.
pub fn check(page: &str) -> Vec<Tag> {
    let tags = tags(page);
    let all = |name: &str| tags.iter().filter(|t| t.name == name).collect::<Vec<_>>();
    assert_eq!((all("html").len(), all("h1").len(), all("main").len()), (1, 1, 1));
    // Further titles are those of charts' marks.
    assert!(!all("title").is_empty());
    assert_eq!(all("html")[0].get("lang"), Some("en"));
    let runs = |script: &&&Tag| script.get("type") != Some("application/json");
    assert_eq!((all("script").iter().filter(runs).count(), all("style").len()), (1, 1));
    let turned = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let wrong = page.chars().find(|&c| c.is_control() && !"\n\t\r".contains(c) || turned(c) || c == '\u{ffff}');
    assert_eq!(wrong, None, "a character that may not stand in a page");
    let ids: Vec<&str> = tags.iter().filter_map(|t| t.get("id")).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids repeat");
    for tag in &tags {
        for (name, value) in &tag.attributes {
            assert!(!name.starts_with("on") && name != "style", "{name} in <{}>", tag.name);
            match name.as_str() {
                "src" | "srcset" | "data" | "action" => panic!("<{}> loads {value}", tag.name),
                "href" if value.starts_with('#') => assert!(ids.contains(&&value[1..]), "{value} leads nowhere"),
                "href" => assert!(!value.contains(':') && !value.starts_with('/'), "{value} leads away"),
                "aria-labelledby" => assert!(ids.contains(&value.as_str()), "{value} names nothing"),
                _ => {}
            }
        }
    }
    for part in ["url(", "@import", "fetch(", "XMLHttpRequest", "<iframe", "<img"] {
        assert!(!page.contains(part), "{part} has no place in the page");
    }
    // A link to a feed is only followed by those who ask for it.
    assert!(all("link").iter().all(|link| link.get("rel") == Some("alternate")));
    for svg in all("svg") {
        let named = svg.get("role") == Some("img") && svg.get("aria-label").is_some_and(|l| l.len() > 10);
        assert!(named || svg.get("aria-hidden") == Some("true"), "an unnamed chart");
    }
    assert_eq!(all("table").len(), all("caption").len());
    assert!(all("th").iter().all(|th| matches!(th.get("scope"), Some("col" | "row"))));
    tags
}

/// A page as a snapshot: a line an element, attributes in the order of their names, styles and scripts left out, so that
/// only what is read is compared.
pub fn normal(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap_or(page);
    while let Some(at) = rest.find('<') {
        put_text(&mut out, &rest[..at]);
        rest = &rest[at + 1..];
        if rest.starts_with('/') {
            let end = rest.find('>').expect("an end tag ends") + 1;
            out.push('<');
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let (mut tag, mut empty, mut after) = start(rest);
        let close = format!("</{}>", tag.name);
        if let Some(closed) = after.strip_prefix(&close).filter(|_| SHAPES.contains(&tag.name.as_str())) {
            (empty, after) = (true, closed);
        }
        if !INLINE.contains(&tag.name.as_str()) {
            out.push('\n');
        }
        out.push_str(&format!("<{}", tag.name));
        tag.attributes.sort();
        for (name, value) in &tag.attributes {
            let value = if value.contains("sha256-") { "…" } else { value };
            out.push_str(&format!(" {name}=\"{value}\""));
        }
        out.push_str(if empty || VOID.contains(&tag.name.as_str()) { "/>" } else { ">" });
        if matches!(tag.name.as_str(), "script" | "style") {
            out.push('…');
            after = &after[after.find(&close).expect("it is closed")..];
        }
        rest = after;
    }
    put_text(&mut out, rest);
    out.replace("&#39;", "'").trim().to_owned()
}

fn put_text(out: &mut String, text: &str) {
    if !(text.contains('\n') && text.trim().is_empty()) {
        out.push_str(text);
    }
}
