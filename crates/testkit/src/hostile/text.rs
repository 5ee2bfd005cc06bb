//! Plain text, JSON lines and Markdown.

use super::Family;
use super::build::{count, fill, stairs};

const fn family(name: &'static str, extension: &'static str, make: fn(usize) -> Vec<u8>) -> Family {
    Family { name, extension, scale: 100_000, make }
}

/// Kinds of plain text, JSON lines and Markdown.
pub(super) const FAMILIES: &[Family] = &[
    // Plain text: what the sentence splitter looks at.
    family("split_closers", "txt", |n| format!("x.\n{}", fill(")\n", n)).into()),
    family("split_quotes", "txt", |n| format!("a\n{}", fill("'\n", n)).into()),
    family("split_spaced_closers", "txt", |n| format!("x. {}", fill(") ", n)).into()),
    family("split_run_of_closers", "txt", |n| format!("x. a\n{}", fill(")", n)).into()),
    family("split_closers_and_stops", "txt", |n| fill(")))) . ", n).into()),
    family("split_stops_in_quotes", "txt", |n| format!("a{}", fill("\".\n", n)).into()),
    family("split_stop_and_closers", "txt", |n| fill(".))))))))", n).into()),
    family("split_stops_and_small", "txt", |n| fill("a. b ", n).into()),
    family("split_stop_and_blanks", "txt", |n| fill(".  \t  ,", n).into()),
    family("split_abbreviations", "txt", |n| fill("Dr. ", n).into()),
    family("split_places", "txt", |n| format!("a U.S. {}", fill("É", n)).into()),
    family("split_places_often", "txt", |n| fill("U.S.\u{85}", n).into()),
    family("split_stops_before_letters", "txt", |n| format!("{}{}", fill("a.m. ", n / 2), fill("é", n / 2)).into()),
    family("plain_one_line", "txt", |n| fill("lorem ipsum dolor sit amet. ", n).into()),
    family("plain_one_word", "txt", |n| fill("a", n).into()),
    family("plain_stops", "txt", |n| fill(". ", n).into()),
    family("plain_short", "txt", |n| fill("Ab. ", n).into()),
    family("plain_blank_lines", "txt", |n| fill("\n", n).into()),
    family("plain_blanks", "txt", |n| format!("a.{}b", fill(" ", n)).into()),
    family("plain_paragraphs", "txt", |n| fill("a\n\n", n).into()),
    family("plain_marks", "txt", |n| format!("e{}", fill("\u{301}", n)).into()),
    // Headings of plain text.
    family("plain_numbered", "txt", |n| count(n, |i| format!("{}.{} Title\n\nx.\n\n", i / 90 % 99, i % 90)).into()),
    family("plain_capitals", "txt", |n| count(n, |i| format!("TITLE {i} WORDS\nIt is so.\n\n")).into()),
    family("plain_marked", "txt", |n| fill("= = x = =\n", n).into()),
    family("plain_signs", "txt", |n| fill("=", n).into()),
    family("plain_underlined", "txt", |n| fill("Abc\n---\n", n).into()),
    family("plain_chapters", "txt", |n| count(n, |i| format!("Chapter {}\n\n", i % 9_999)).into()),
    family("plain_joiners", "txt", |n| fill("\u{1f468}\u{200d}", n).into()),
    family("plain_directions", "txt", |n| format!("{} x", fill("\u{202e}", n)).into()),
    family("plain_broken_surrogates", "txt", |n| b"ok \xed\xa0\x80 \xed\xb0\x80 ok. ".repeat((n / 16).max(1))),
    family("plain_half_utf16", "txt", |n| {
        let mut bytes = b"\xff\xfe".to_vec();
        bytes.extend(b"a\0b\0".repeat((n / 4).max(1)));
        bytes.extend(b"\x00\xd8");
        bytes
    }),
    // JSON lines.
    family("jsonl_title", "jsonl", |n| {
        let (title, text) = (fill("t ", n / 2), fill("Text is here now. ", n / 2));
        format!("{{\"id\": \"a\", \"title\": \"{title}\", \"text\": \"{text}\"}}\n").into()
    }),
    family("jsonl_closers", "jsonl", |n| format!("{{\"id\": \"a\", \"text\": \"x.\\n{}\"}}\n", fill(")\\n", n)).into()),
    family("jsonl_number", "jsonl", |n| format!("{{\"id\": 1{}, \"text\": \"x\"}}\n", fill("0", n)).into()),
    family("jsonl_long_id", "jsonl", |n| {
        format!("{{\"id\": \"{}\", \"text\": \"{}\"}}\n", fill("i", n / 2), fill("A b. ", n / 2)).into()
    }),
    family("jsonl_deep", "jsonl", |n| {
        format!("{{\"id\": \"a\", \"x\": {}{}, \"text\": \"x\"}}\n", fill("[", n / 2), fill("]", n / 2)).into()
    }),
    family("jsonl_lines", "jsonl", |n| count(n, |i| format!("{{\"id\": {i}, \"text\": \"x\"}}\n")).into()),
    family("jsonl_equal_ids", "jsonl", |n| fill("{\"id\": \"a\", \"text\": \"x\"}\n", n).into()),
    family("jsonl_surrogates", "jsonl", |n| fill("{\"text\": \"\\ud83d\\ude00 \\ud800 x\"}\n", n).into()),
    // Markdown.
    family("md_long_heading", "md", |n| {
        format!("# {}\n\n{}", fill("h", n / 2), fill("## a\n\nText.\n\n", n / 2)).into()
    }),
    family("md_heading_of_words", "md", |n| {
        let text = fill("Text here is a sentence of some words.\n\n", n / 2);
        format!("# {}\n\n{text}", fill("word ", n / 2)).into()
    }),
    family("md_setext_paragraph", "md", |n| format!("{}===\n", fill("a\n", n)).into()),
    family("md_setext_one_line", "md", |n| format!("{}\n---\n\nText.\n", fill("Some words. ", n)).into()),
    family("md_headings_just_short", "md", |n| fill(&format!("## {}\n\nText.\n\n", "h".repeat(250)), n).into()),
    family("md_path_just_short", "md", |n| {
        let path: String = (1..=6).map(|level| format!("{} {}\n\n", "#".repeat(level), "h".repeat(250))).collect();
        format!("{path}{}", fill("###### a\n\nText.\n\n", n)).into()
    }),
    family("md_title_in_front", "md", |n| {
        format!("---\ntitle: {}\n---\n{}", fill("t", n / 2), fill("Text. ", n / 2)).into()
    }),
    family("md_front_matter", "md", |n| format!("---\n{}", fill("a: b\n", n)).into()),
    family("md_equal_headings", "md", |n| fill("# a\n", n).into()),
    family("md_numbered_headings", "md", |n| count(n, |i| format!("# a-{i}\n# a\n")).into()),
    family("md_closers", "md", |n| format!("x.\n{}", fill(")\n", n)).into()),
    family("md_quotes", "md", |n| format!("{} x\n", fill(">", n)).into()),
    family("md_quotes_lines", "md", |n| count(n, |i| format!("{}a\n", ">".repeat(i))).into()),
    family("md_lists", "md", |n| format!("{}x\n", fill("- ", n)).into()),
    family("md_list_stairs", "md", |n| stairs(2, "- a\n", n).into()),
    family("md_brackets", "md", |n| fill("[", n).into()),
    family("md_bracket_pairs", "md", |n| format!("{}{}\n", fill("[", n / 2), fill("]", n / 2)).into()),
    family("md_links_open", "md", |n| fill("[a](", n).into()),
    family("md_emphasis", "md", |n| fill("*a _b ", n).into()),
    family("md_emphasis_deep", "md", |n| format!("{}a{}", fill("*", n / 2), fill("*", n / 2)).into()),
    family("md_references", "md", |n| {
        let defined = count(n / 2, |i| format!("[a{i}]: /u\n"));
        format!("{defined}\n{}", count(n / 2, |i| format!("[a{i}]"))).into()
    }),
    family("md_long_reference", "md", |n| format!("[a]: /{}\n\n{}", fill("u", n / 2), fill("[a]", n / 2)).into()),
    family("md_table_wide", "md", |n| {
        let columns = n / 6;
        format!("{}\n{}|\n{}", fill("|", columns), fill("|-", 2 * columns), fill("|\n", n / 2)).into()
    }),
    family("md_footnotes", "md", |n| count(n, |i| format!("[^{i}]: x\n\n[^{i}] ")).into()),
    family("md_tags_open", "md", |n| fill("<a ", n).into()),
    family("md_html_blocks", "md", |n| fill("<div>\n\n", n).into()),
    family("md_html_in_html", "md", |n| format!("<table><tr><td>\n\n{}", fill("a <b> ", n)).into()),
    family("md_comments_open", "md", |n| fill("<!-- ", n).into()),
    family("md_cdata", "md", |n| fill("<![CDATA[", n).into()),
    family("md_autolinks", "md", |n| fill("<a:", n).into()),
    family("md_backticks", "md", |n| count(n, |i| format!("{}a", "`".repeat(i % 5_000))).into()),
    family("md_entities", "md", |n| fill("&", n).into()),
    family("md_dollars", "md", |n| fill("$a", n).into()),
    family("md_tasks", "md", |n| fill("- [ ] a\n", n).into()),
    family("md_ids", "md", |n| fill("# a {#b}\n", n).into()),
    family("md_code_blocks", "md", |n| fill("```\n", n).into()),
    family("md_code_lines", "md", |n| format!("```\n{}", fill("x\n", n)).into()),
];
