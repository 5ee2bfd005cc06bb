//! What holds for any input: sentences tile the source, and rewrites stay in order.
#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Span};
use pericope_read::{ReadOptions, read_text};
use proptest::prelude::*;

fn check(format: &str, source: &str) -> Document {
    let document = read_text("d", format, source, &ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()), "{format}: {source:?}");
    assert_eq!(&*document.source, source);
    assert!(document.anchors.is_empty() || document.anchors.len() == document.sections.len(), "{format}: {source:?}");
    assert!(document.anchors.iter().flatten().all(|anchor| !anchor.is_empty()), "{format}: {source:?}");
    let mut at = 0;
    for rewrite in &document.rewrites {
        assert!(rewrite.span.start >= at && !rewrite.span.is_empty(), "{format}: {source:?}: {:?}", document.rewrites);
        assert!(source.get(rewrite.span.start..rewrite.span.end).is_some());
        at = rewrite.span.end;
    }
    let shown = document.visible(Span::new(0, source.len()));
    assert!(document.rewrites.is_empty() == matches!(shown, std::borrow::Cow::Borrowed(_)));
    document
}

/// Pieces that mean something to a parser, between words and odd characters.
fn soup(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces).prop_map(str::to_owned),
        2 => "[a-zA-Z]{1,6}[.!? ]{0,2}",
        1 => "\\PC{0,3}",
        1 => proptest::sample::select(&["\n", "\n\n", "\r\n", " ", "    ", "\t", "\u{feff}", "\u{2028}", "。", "\0"][..])
            .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

const MARKDOWN: &[&str] = &[
    "# ",
    "## ",
    "\n# ",
    "\n===\n",
    "\n---\n",
    "---\n",
    "+++\n",
    "- ",
    "\n- ",
    "\n  - ",
    "1. ",
    "\n2) ",
    "> ",
    "\n> ",
    ">",
    "```",
    "\n```\n",
    "~~~",
    "`",
    "``",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "](",
    ")",
    "![",
    "[a]: /b",
    "[^1]",
    "[^1]: ",
    "\n|a|b|\n|-|-|\n|c|d|\n",
    "|",
    "<div>",
    "</div>",
    "<b>",
    "<!--",
    "-->",
    "<br>",
    "<pre>",
    "<table>",
    "&amp;",
    "&",
    "\\",
    "\\\n",
    "  \n",
    "- [ ] ",
    "<http://a.b>",
    "    code\n",
    "> [!NOTE]\n",
    "{{ x }}",
    "import a from 'b'\n",
    "<h1>",
    "</h1>",
    "{#id}",
];

const HTML: &[&str] = &[
    "<p>",
    "<img alt='One. Two'>",
    "<img alt=x",
    "</p>",
    "<div class='a'>",
    "</div>",
    "<b>",
    "</b>",
    "<h1>",
    "</h1>",
    "<h2>",
    "<ul>",
    "<li>",
    "</ul>",
    "<pre>",
    "</pre>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "</td>",
    "<br/>",
    "<head>",
    "</head>",
    "<title>",
    "</title>",
    "<body>",
    "</html>",
    "<script>",
    "</script>",
    "<style>",
    "<!--",
    "-->",
    "<!doctype html>",
    "<?x ",
    ">",
    "<",
    "\"",
    "'",
    "=",
    "&amp;",
    "&nbsp;",
    "&#65",
    "&",
    ";",
    "<a b=\"",
    "<main>",
    "</main>",
    "<article>",
    "</article>",
    "<nav>",
    "</nav>",
    "<header>",
    "</header>",
    "<aside>",
    "<footer>",
    "</footer>",
    "<div hidden>",
    "<span aria-hidden=true>",
    "</span>",
    "<svg>",
    "<a name=x>",
    "</a>",
    "<h2 id=y>",
    "<a href='#z'>¶",
    "<p hidden>",
    "<li hidden>",
    "<tr hidden>",
    "<dd>",
    "<button>",
    "</button>",
    "<header><h1>a</h1></header>",
    "<table role=none>",
    "<td class=linenos>",
    "<th>",
    "\u{200b}",
    "&#8203;",
    "<![CDATA[",
    "]]>",
    "<?xml version='1.0'?>",
];

const MDX: &[&str] = &[
    "import a from 'b'\n",
    "\nexport const a = {\n",
    "}\n",
    "<Tabs>",
    "</Tabs>\n",
    "<A b={",
    "}",
    "/>",
    "<>",
    "</>",
    "{/*",
    "*/}",
    "{",
    "`",
    "```\n",
    "\n# ",
    "- ",
    "    ",
    "\"",
    "'",
    "<b>",
    "\\",
    "**",
    "&amp",
];

const RST: &[&str] = &[
    "\n====\n",
    "\n----\n",
    "====\n",
    "\n===  ===\n",
    "\n+---+\n|a  |\n+---+\n",
    "\n.. ",
    "\n..\n",
    "\n.. note:: ",
    "\n.. code-block:: sh\n\n   ",
    "\n.. list-table:: x\n   :widths: 1\n\n   * - ",
    "\n.. image:: a\n   :alt: b\n",
    "\n   :name: x\n",
    "\n.. _a b:\n",
    "\n.. _a: http://b\n",
    "\n.. |s| replace:: *x*\n",
    "\n.. [1] ",
    "::\n\n    ",
    "::",
    "\n- ",
    "\n#. ",
    "\n   ",
    "\n:f: ",
    "\n-a  ",
    "\n| ",
    "\n>>> ",
    "\n__ ",
    "*",
    "**",
    "``",
    "`",
    "`_",
    "_",
    "_`",
    "|s|",
    "|",
    "[1]_",
    ":ref:`",
    "` <x>`_",
    "\\",
    "\\ ",
];

const ASCIIDOC: &[&str] = &[
    "&eacute;",
    "&#65",
    "(C)",
    "(TM",
    "\n= ",
    "\n== ",
    "\n==== ",
    "\n----\n",
    "\n....\n",
    "\n====\n",
    "\n****\n",
    "\n--\n",
    "\n++++\n",
    "\n////\n",
    "\n|===\n",
    "\n```\n",
    "\n[source,sh]\n",
    "\n[[a]]\n",
    "\n[#b]\n",
    "\n.Title\n",
    "\n:a: b\n",
    "\n:a: b \\\n",
    "\n// ",
    "\n* ",
    "\n. ",
    "\n<1> ",
    "\nterm:: ",
    "\nterm::\n",
    "\n+\n",
    "\n ",
    "\nNOTE: ",
    "\nimage::x[Alt]\n",
    "\ninclude::x[]\n",
    "\n'''\n",
    "\n~~~~\n",
    "*",
    "**",
    "_",
    "`",
    "+",
    "#",
    "^",
    "~",
    "<<a,",
    ">>",
    "[.x]#",
    "[[c]]",
    "((",
    "))",
    "{a}",
    "link:a[",
    "]",
    "https://a.b",
    "footnote:[",
    " +\n",
    "\\",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn markdown_soup(source in soup(MARKDOWN)) {
        check("markdown", &source);
    }

    #[test]
    fn html_soup(source in soup(HTML)) {
        check("html", &source);
    }

    #[test]
    fn mdx_soup(source in soup(MDX)) {
        check("mdx", &source);
    }

    #[test]
    fn rst_soup(source in soup(RST)) {
        check("rst", &source);
    }

    #[test]
    fn asciidoc_soup(source in soup(ASCIIDOC)) {
        check("asciidoc", &source);
    }

    #[test]
    fn plain_soup(source in soup(&[". ", "\n", "。", "\"", ")", "Dr. "])) {
        let document = check("plain", &source);
        prop_assert!(document.rewrites.len() <= 1);
    }

    #[test]
    fn any_json_text(text in "\\PC{0,60}", format in proptest::sample::select(&["md", "mdx", "html", "plain", "rst", "adoc"][..])) {
        let line = serde_json::json!({"id": "x", "text": text, "format": format}).to_string();
        let document = read_text("d", "jsonl", line, &ReadOptions::default()).unwrap();
        prop_assert_eq!(&*document.source, text.as_str());
        prop_assert_eq!(document.check(), Ok(()));
    }
}
