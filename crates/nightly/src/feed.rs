//! `feed.xml`: the nights as an Atom feed (RFC 4287).

use super::history::RunHeader;
use super::latest::report_link;
use super::night::Verdict;
use pericope_util::xml_text as escaped;

/// Nights in the feed.
const ENTRIES: usize = 30;

/// The feed of the newest nights. `id` names it for good; `base` is where the folder can be read, empty for relative
/// links.
pub(super) fn feed(
    experiment: &str,
    id: &str,
    heads: &[RunHeader],
    base: &str,
    has_report: &dyn Fn(u32) -> bool,
) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    let mut put = |indent: &str, element: &str| {
        out.push_str(indent);
        out.push_str(element);
        out.push('\n');
    };
    put("  ", &format!("<title>{}: nightly</title>", escaped(experiment)));
    put("  ", &format!("<id>urn:uuid:{}</id>", escaped(id)));
    put("  ", "<author><name>Pericope</name></author>");
    put("  ", &format!("<link rel=\"alternate\" type=\"text/html\" href=\"{}index.html\"/>", escaped(base)));
    put("  ", &format!("<link rel=\"self\" type=\"application/atom+xml\" href=\"{}feed.xml\"/>", escaped(base)));
    let newest = heads.iter().map(|head| head.finished.as_str()).max().unwrap_or("1970-01-01T00:00:00Z");
    put("  ", &format!("<updated>{}</updated>", escaped(newest)));
    for head in heads.iter().rev().take(ENTRIES) {
        let page = if has_report(head.number) { report_link(head.number) } else { "index.html".to_owned() };
        put("  ", "<entry>");
        put("    ", &format!("<title>{}</title>", escaped(&title(head))));
        put("    ", &format!("<id>urn:uuid:{}</id>", escaped(&head.uid)));
        put("    ", &format!("<updated>{}</updated>", escaped(&head.finished)));
        put("    ", &format!("<link rel=\"alternate\" type=\"text/html\" href=\"{}{page}\"/>", escaped(base)));
        put("    ", &format!("<category term=\"{}\"/>", head.verdict.name()));
        put("    ", &format!("<summary>{}</summary>", escaped(&head.line)));
        put("  ", "</entry>");
    }
    put("", "</feed>");
    out
}

fn title(head: &RunHeader) -> String {
    let mark = match head.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "FAILED",
        Verdict::Accepted => "failed, accepted",
    };
    format!("Night {}: {mark}", head.number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{RunHeader, feed};
    use crate::night::{Program, Verdict};

    #[test]
    fn the_feed_is_xml_and_has_what_atom_asks_for() {
        let head = |number: u32| RunHeader {
            number,
            uid: format!("00000000-0000-5000-8000-{number:012}"),
            started: "2026-01-01T00:00:00Z".into(),
            finished: "2026-01-01T00:05:00Z".into(),
            seconds: 300.0,
            verdict: Verdict::Failed,
            line: "a < b & \"c\" \u{0}\u{1b} ]]> \u{ffff}\u{202e}".into(),
            program: Program::default(),
            documents: 1,
            questions: 1,
        };
        let heads: Vec<RunHeader> = (1..=40).map(head).collect();
        let text =
            feed("x <&> \"y\"", "00000000-0000-5000-8000-000000000000", &heads, "https://a.example/n/?a=1&b=/", &|n| {
                n > 39
            });
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        let ns = "http://www.w3.org/2005/Atom";
        let of = |node: roxmltree::Node<'_, '_>, name: &str| {
            let found: Vec<String> = node
                .children()
                .filter(|c| c.has_tag_name((ns, name)))
                .map(|c| c.text().unwrap_or("").to_owned())
                .collect();
            found
        };
        assert!(root.has_tag_name((ns, "feed")));
        assert_eq!(of(root, "title"), ["x <&> \"y\": nightly"]);
        assert_eq!((of(root, "id").len(), of(root, "updated").len(), of(root, "author").len()), (1, 1, 1));
        let entries: Vec<_> = root.children().filter(|c| c.has_tag_name((ns, "entry"))).collect();
        assert_eq!(entries.len(), 30);
        let mut ids = std::collections::BTreeSet::new();
        for entry in &entries {
            for name in ["title", "id", "updated", "summary"] {
                assert_eq!(of(*entry, name).len(), 1, "{name}");
            }
            ids.extend(of(*entry, "id"));
            assert_eq!(of(*entry, "summary")[0], "a < b & \"c\" \u{fffd}\u{fffd} ]]> \u{fffd}\u{fffd}");
        }
        assert_eq!((ids.len(), of(entries[0], "title")[0].as_str()), (30, "Night 40: FAILED"));
        let link = |entry: &roxmltree::Node<'_, '_>| {
            entry.children().find(|c| c.has_tag_name((ns, "link"))).unwrap().attribute("href").unwrap().to_owned()
        };
        assert_eq!(link(&entries[0]), "https://a.example/n/?a=1&b=/nights/000040/index.html");
        assert_eq!(link(&entries[1]), "https://a.example/n/?a=1&b=/index.html");
    }
}
