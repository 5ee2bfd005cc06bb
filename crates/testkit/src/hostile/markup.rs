//! MDX, HTML, reStructuredText and AsciiDoc.

use super::Family;
use super::build::{count, fill, stairs};

const fn family(name: &'static str, extension: &'static str, make: fn(usize) -> Vec<u8>) -> Family {
    Family { name, extension, scale: 60_000, make }
}

/// Kinds of MDX, HTML, reStructuredText and AsciiDoc.
pub(super) const FAMILIES: &[Family] = &[
    // MDX.
    family("mdx_lines", "mdx", |n| format!("{}{}", fill("{\n", 2 * n / 5), fill("}x\n", 3 * n / 5)).into()),
    family("mdx_lines_open", "mdx", |n| fill("{a\n", n).into()),
    family("mdx_tags", "mdx", |n| format!("{}{}\n", fill("<A {", 2 * n / 3), fill("}<", n / 3)).into()),
    family("mdx_tag_values", "mdx", |n| format!("{}{}", fill("<A b={", n / 2), fill("}", n / 2)).into()),
    family("mdx_tag_quotes", "mdx", |n| fill("<A b='", n).into()),
    family("mdx_tags_open", "mdx", |n| fill("<A ", n).into()),
    family("mdx_tags_in_braces", "mdx", |n| {
        format!("{}{}{}<", fill("<A {", n / 2), fill("}", n / 8), fill("x", n / 3)).into()
    }),
    family("mdx_tag_chains", "mdx", |n| {
        format!("{}{}{}<", fill("<A {", n / 2), fill("}", n / 8), fill("{}", n / 3)).into()
    }),
    family("mdx_braces_in_strings", "mdx", |n| format!("{{\n{}{}", fill("`\n{'`'", n / 2), fill("}", n / 2)).into()),
    family("mdx_tag_strings", "mdx", |n| {
        format!("{}{}{}<", fill("<A {", n / 2), fill("}", n / 8), fill("''", n / 3)).into()
    }),
    family("mdx_fragments", "mdx", |n| fill("<A>", n).into()),
    family("mdx_escapes", "mdx", |n| format!("{{{}\n", fill("\\`", n)).into()),
    family("mdx_backticks_in_braces", "mdx", |n| format!("{{{}\n", fill("`\\", n)).into()),
    family("mdx_quotes_in_braces", "mdx", |n| format!("{{{}", fill("'\n", n)).into()),
    family("mdx_lone_quotes_in_braces", "mdx", |n| format!("{{{}", fill("\\'\"", n)).into()),
    family("mdx_comments_in_braces", "mdx", |n| fill("{/*", n).into()),
    family("mdx_runs", "mdx", |n| count(n, |i| format!("{}a ", "`".repeat(i + 1))).into()),
    family("mdx_backticks", "mdx", |n| fill("``a` ", n).into()),
    family("mdx_imports", "mdx", |n| fill("import {\n\n", n).into()),
    family("mdx_exports", "mdx", |n| fill("export const a = (\n", n).into()),
    // HTML.
    family("html_blanks", "html", |n| format!("<p>a</p>{}<i>{}", fill(" ", n / 2), fill("</p>", n / 2)).into()),
    family("html_blanks_and_breaks", "html", |n| {
        format!("<p>a</p>{}<i>{}", fill(" ", n / 2), fill("<br>", n / 2)).into()
    }),
    family("html_deep", "html", |n| format!("{}x{}", fill("<div>", n / 2), fill("</div>", n / 2)).into()),
    family("html_wrong_ends", "html", |n| format!("{}x{}", fill("<div>", n / 2), fill("</p>", n / 2)).into()),
    family("html_tables", "html", |n| fill("<table><tr><td>", n).into()),
    family("html_lists", "html", |n| fill("<ul><li>", n).into()),
    family("html_attributes", "html", |n| format!("<p {}>x</p>", fill("a=b ", n)).into()),
    family("html_attributes_bare", "html", |n| format!("<p {}>x</p>", fill("a ", n)).into()),
    family("html_attributes_often", "html", |n| fill(&format!("<p {}>x</p>", "a ".repeat(1_000)), n).into()),
    family("html_entities", "html", |n| format!("<p>{}", fill("&", n)).into()),
    family("html_entities_long", "html", |n| format!("<p>{}", fill("&#0000000000", n)).into()),
    family("html_asides", "html", |n| format!("{}x{}", fill("<aside>", n / 2), fill("</aside>", n / 2)).into()),
    family("html_navigation", "html", |n| fill("<main><nav>x</nav>", n).into()),
    family("html_headers", "html", |n| fill("<header><h1>a</h1></header>", n).into()),
    family("html_headings", "html", |n| fill("<h1>a", n).into()),
    family("html_long_heading", "html", |n| {
        format!("<h1>{}</h1>{}", fill("h", n / 2), fill("<h2>a</h2><p>Text.", n / 2)).into()
    }),
    family("html_long_title", "html", |n| {
        format!("<title>{}</title>{}", fill("t ", n / 2), fill("<p>Text.", n / 2)).into()
    }),
    family("html_heading_of_rows", "html", |n| {
        format!("<h1>{}</h1>{}", fill("<b>h</b> ", n / 2), fill("<h2>a</h2><p>Text.", n / 2)).into()
    }),
    family("html_long_anchor", "html", |n| {
        format!("<h1 id={}>a</h1>{}", fill("i", n / 2), fill("<h2>a</h2><p>Text.", n / 2)).into()
    }),
    family("html_comments_open", "html", |n| fill("<!--", n).into()),
    family("html_scripts_open", "html", |n| fill("<script>", n).into()),
    family("html_titles_open", "html", |n| fill("<title>", n).into()),
    family("html_marks", "html", |n| fill("<!", n).into()),
    family("html_less", "html", |n| fill("<", n).into()),
    family("html_quotes_open", "html", |n| fill("<a b='", n).into()),
    family("html_pre", "html", |n| fill("<pre>", n).into()),
    family("html_anchors", "html", |n| count(n, |i| format!("<a id=x{i}></a>")).into()),
    family("html_anchors_before_headings", "html", |n| {
        format!("{}{}", fill("<a id=x></a>", n / 2), fill("<h2>a</h2>", n / 2)).into()
    }),
    family("html_closers", "html", |n| format!("<p>x.\n{}", fill(")\n", n)).into()),
    // reStructuredText.
    family("rst_colons", "rst", |n| fill("a:", n).into()),
    family("rst_colons_apart", "rst", |n| fill(":a: ", n).into()),
    family("rst_roles_open", "rst", |n| fill(":a:`b ", n).into()),
    family("rst_footnotes", "rst", |n| format!("{}b]_\n", fill("[a ", n)).into()),
    family("rst_footnotes_open", "rst", |n| fill("[a", n).into()),
    family("rst_substitutions", "rst", |n| {
        format!(".. |a| replace:: {}\n\n{}\n", fill("y", n / 2), fill("|a| ", n / 2)).into()
    }),
    family("rst_substitutions_in_titles", "rst", |n| {
        format!(".. |a| replace:: {}\n\n{}\n", "y".repeat(4_000), fill("|a|\n===\n\nText.\n\n", n)).into()
    }),
    family("rst_many_substitutions", "rst", |n| count(n, |i| format!(".. |a{i}| replace:: b\n")).into()),
    family("rst_nested_lists", "rst", |n| stairs(2, "- a\n\n", n).into()),
    family("rst_nested_quotes", "rst", |n| stairs(1, "a\n\n", n).into()),
    family("rst_nested_directives", "rst", |n| stairs(3, ".. note::\n\n", n).into()),
    family("rst_definitions", "rst", |n| stairs(1, "a\n", n).into()),
    family("rst_grid_rules", "rst", |n| fill("+--+\n", n).into()),
    family("rst_grid_rules_apart", "rst", |n| fill("+--+\n|\n\n", n).into()),
    family("rst_simple_tables", "rst", |n| fill("== ==\na b\n", n).into()),
    family("rst_simple_table_open", "rst", |n| format!("{}x\n", fill("== ==\n\n\n", n)).into()),
    family("rst_rules_in_paragraphs", "rst", |n| fill("= =\na\n\nb\n\n", n).into()),
    family("rst_options", "rst", |n| format!(".. note::\n{}", fill("   :a: b\n", n)).into()),
    family("rst_stars", "rst", |n| fill("*a ", n).into()),
    family("rst_ticks", "rst", |n| format!("{}`", fill("`a ", n)).into()),
    family("rst_underscores", "rst", |n| fill("a_", n).into()),
    family("rst_bars", "rst", |n| format!("{}|", fill("|a ", n)).into()),
    family("rst_backslashes", "rst", |n| fill("\\", n).into()),
    family("rst_literals", "rst", |n| fill("a::\n\n", n).into()),
    family("rst_literal_blanks", "rst", |n| format!("{}{}", fill("a::\n", n / 2), fill("\n", n / 2)).into()),
    family("rst_comments", "rst", |n| fill(".. a\n", n).into()),
    family("rst_targets", "rst", |n| fill(".. _a:\n", n).into()),
    family("rst_styles", "rst", |n| fill("a\n====\n\nb\n----\n\n", n).into()),
    family("rst_equal_titles", "rst", |n| fill("a\n====\n", n).into()),
    family("rst_long_title", "rst", |n| {
        let rule = fill("=", n / 4);
        format!("{}\n{rule}\n\n{}", "t".repeat(rule.len()), fill("a\n--\n\nText.\n\n", n / 2)).into()
    }),
    family("rst_long_target", "rst", |n| {
        format!(".. _{}:\n\na\n====\n\n{}", fill("t", n / 2), fill("b\n----\n\nText.\n\n", n / 2)).into()
    }),
    family("rst_closers", "rst", |n| format!("x.\n{}", fill(")\n", n)).into()),
    // AsciiDoc.
    family("adoc_stars", "adoc", |n| format!("{}a*\n", fill("*a ", n)).into()),
    family("adoc_marks", "adoc", |n| fill("*a _b `c #d ", n).into()),
    family("adoc_star_pairs", "adoc", |n| format!("{}{}\n", fill("*a ", n / 2), fill("a* ", n / 2)).into()),
    family("adoc_links", "adoc", |n| fill("link:", n).into()),
    family("adoc_link_targets", "adoc", |n| format!("{}[b]\n", fill("link:a", n)).into()),
    family("adoc_urls", "adoc", |n| fill("https://", n).into()),
    family("adoc_url_targets", "adoc", |n| format!("{}[b]", fill("https://a,", n)).into()),
    family("adoc_attributes", "adoc", |n| format!(":a: {}\n\n{}\n", fill("y", n / 2), fill("{a} ", n / 2)).into()),
    family("adoc_attributes_in_titles", "adoc", |n| {
        format!(":a: {}\n\n{}\n", "y".repeat(4_000), fill("== {a}\n\nText.\n\n", n)).into()
    }),
    family("adoc_attribute_lines", "adoc", |n| format!(":a: {}x\n", fill("y \\\n", n)).into()),
    family("adoc_pending", "adoc", |n| format!("a\n\n{}\n[NOTE]\n{}", fill(" ", n / 2), fill("//c\n", n / 2)).into()),
    family("adoc_pending_entries", "adoc", |n| {
        format!("a\n\n{}\n[NOTE]\n{}", fill(" ", n / 2), fill(":a: b\n", n / 2)).into()
    }),
    family("adoc_examples", "adoc", |n| fill("====\ntext\n\n", n).into()),
    family("adoc_code_open", "adoc", |n| fill("----\n....\n", n).into()),
    family("adoc_code", "adoc", |n| fill("----\n", n).into()),
    family("adoc_fences_open", "adoc", |n| {
        let open = count(n / 2, |i| format!("{}\n", "=".repeat(5 + i)));
        format!("{open}{}", fill("====\n", n / 2)).into()
    }),
    family("adoc_fences", "adoc", |n| count(n, |i| format!("{}\n", "=".repeat(4 + i % 3_000))).into()),
    family("adoc_parentheses", "adoc", |n| fill("((a ", n).into()),
    family("adoc_pluses", "adoc", |n| fill("+a ", n).into()),
    family("adoc_brackets", "adoc", |n| fill("[a", n).into()),
    family("adoc_references", "adoc", |n| fill("<<a", n).into()),
    family("adoc_footnotes", "adoc", |n| fill("footnote:[a ", n).into()),
    family("adoc_carets", "adoc", |n| fill("^a^", n).into()),
    family("adoc_braces", "adoc", |n| fill("{a", n).into()),
    family("adoc_blocks", "adoc", |n| fill("[source]\n", n).into()),
    family("adoc_ids", "adoc", |n| fill("[[a]]\n== a\n\n", n).into()),
    family("adoc_equal_titles", "adoc", |n| fill("== a\n\n", n).into()),
    family("adoc_long_title", "adoc", |n| {
        format!("= {}\n\n{}", fill("t ", n / 2), fill("== a\n\nText.\n\n", n / 2)).into()
    }),
    family("adoc_long_prefix", "adoc", |n| {
        format!(":idprefix: {}\n\n{}", fill("p", n / 2), fill("== a\n\nText.\n\n", n / 2)).into()
    }),
    family("adoc_descriptions", "adoc", |n| fill("a::\n", n).into()),
    family("adoc_colons", "adoc", |n| fill("a:", n).into()),
    family("adoc_lists", "adoc", |n| fill("* a\n+\n", n).into()),
    family("adoc_tables", "adoc", |n| fill("|===\n|a\n\n", n).into()),
    family("adoc_closers", "adoc", |n| format!("x.\n{}", fill(")\n", n)).into()),
];
