#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Kind, Span};

use crate::{ReadOptions, read_text};

fn read(source: &str) -> Document {
    let document = read_text("d.html", "html", source, &ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()), "{source:?}");
    document
}

/// Kind and visible text of each sentence.
fn seen(document: &Document) -> Vec<(Kind, String)> {
    document.sentences.iter().map(|s| (s.kind, document.visible(s.span).trim().to_owned())).collect()
}

fn expected(rows: &[(Kind, &str)]) -> Vec<(Kind, String)> {
    rows.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect()
}

#[test]
fn a_page() {
    let source = "<!DOCTYPE html>\n<html><head><title>Fish &amp; chips</title>\n<style>p { x: y. }</style></head>\n\
        <body><h1>All <i>fish</i></h1>\n<p>A cod <b>swims.</b> It eats &lt;you&gt;.</p>\n\
        <ul><li>One. Two.<li>Three</ul>\n<!-- hidden. -->\n<h2 id=a>Sub</h2><pre>a  b.\n<b>C</b> &amp; d</pre>\n\
        <table><tr><td>x. Y</td><td>z</td></tr></table><p>End<br>of it.</p><script>var a = '<p>';</script>\n</body></html>\n";
    let document = read(source);
    let rows = [
        (Kind::Markup, ""),
        (Kind::Markup, ""),
        (Kind::Heading(1), "All fish"),
        (Kind::Prose, "A cod swims."),
        (Kind::Prose, "It eats <you>."),
        (Kind::ListItem, "One."),
        (Kind::ListItem, "Two."),
        (Kind::ListItem, "Three"),
        (Kind::Markup, ""),
        (Kind::Heading(2), "Sub"),
        (Kind::Code, "a  b.\nC & d"),
        (Kind::Table, "x. Y z"),
        (Kind::Prose, "End\nof it."),
        (Kind::Markup, ""),
    ];
    assert_eq!(seen(&document), expected(&rows));
    assert_eq!(document.title.as_deref(), Some("Fish & chips"));
    assert_eq!(document.heading_path(10), ["All fish", "Sub"]);
    assert_eq!(document.sentence(3), "<p>A cod <b>swims.</b>");
    assert_eq!(document.sentence(4), "It eats &lt;you&gt;.</p>");
    assert_eq!(document.sentence(10), "<pre>a  b.\n<b>C</b> &amp; d</pre>");
}

#[test]
fn blocks_without_white_space_between_them_read_as_lines() {
    let document = read("<p>a</p><p>b</p><div>c<p>d</div>");
    assert_eq!(document.visible(Span::new(0, document.source.len())), "a\nb\nc\nd");
    assert_eq!(document.len(), 4);
    let page =
        "<p>a</p><img alt=b><ul><li>c</ul><img alt=d><pre>e</pre>f<table><tr><td>g</table>h<p>i</p>&amp;<p>j</p><br>k";
    let shown = read(page).visible(Span::new(0, page.len())).into_owned();
    assert_eq!(
        shown.split_whitespace().collect::<Vec<_>>(),
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "&", "j", "k"]
    );
}

#[test]
fn front_matter_is_no_text() {
    let document = read(
        "---\nlayout: default\ntitle: Pumps\n---\n<title>{{ page.title }}</title><h1>All pumps</h1>\n<p>Text.</p>",
    );
    assert_eq!(document.title.as_deref(), Some("Pumps"));
    assert_eq!((document.sentences[0].kind, document.sentences[0].span.end), (Kind::Markup, 36));
    assert_eq!(text(&document.source), "All pumps Text.");
    assert_eq!(text("---\n<p>Text.</p>"), "--- Text.");
}

#[test]
fn malformed_pages_are_read_as_far_as_they_make_sense() {
    let unclosed = read("<h1>Title<p>Text <b>bold. More <table><tr><td>x<tr><td>y");
    let rows = [(Kind::Heading(1), "Title"), (Kind::Prose, "Text bold."), (Kind::Prose, "More"), (Kind::Table, "x\ny")];
    assert_eq!(seen(&unclosed), expected(&rows));
    assert_eq!(unclosed.title.as_deref(), Some("Title"));
    assert_eq!(seen(&read("a < b && c <3")), expected(&[(Kind::Prose, "a < b && c <3")]));
    assert_eq!(seen(&read("<head><title>T</title><p>x")), expected(&[(Kind::Markup, ""), (Kind::Prose, "x")]));
    assert_eq!(seen(&read("</p></div><br>")), expected(&[(Kind::Markup, "")]));
    assert_eq!(seen(&read("<p>&nbsp;</p><p>x</p>")), expected(&[(Kind::Prose, "x")]));
    assert_eq!(seen(&read("<pre>a<body>b</body>c")), expected(&[(Kind::Code, "ab"), (Kind::Prose, "c")]));
}

#[test]
fn the_frame_of_a_page_stands_for_itself() {
    let source = format!("<body>{}<p>Text.</p>", "<div class='x'><img src='y'></div>".repeat(20));
    let document = read(&source);
    assert_eq!(seen(&document), expected(&[(Kind::Markup, ""), (Kind::Prose, "Text.")]));
    assert_eq!(document.sentence(1), "Text.</p>");
}

/// What is read of a page as language.
fn text(source: &str) -> String {
    let document = read(source);
    let shown = document.sentences.iter().filter(|s| s.kind.is_language()).map(|s| document.visible(s.span));
    shown.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn content_is_found_in_pages_of_many_kinds() {
    for (page, expected) in [
        // The body where there is neither `main` nor `article`.
        ("<body><nav>Menu</nav><p>Text.</p><footer>Foot</footer>", "Text."),
        ("<div role='banner'>B</div><div role=main><p>Text.</p></div><div>Side</div>", "Text."),
        ("<p>Before</p><article><p>One.</p></article><article><p>Two.</p></article><p>After", "One. Two."),
        // The page's only main heading may be in its banner.
        ("<header><h1>Title</h1></header><p>Text.</p>", "Title Text."),
        ("<header><h1>Site</h1></header><h1>Title</h1><p>Text.</p>", "Title Text."),
        ("<main><header><h1>Title</h1></header><p>Text.</p></main>", "Title Text."),
        ("<blockquote><p>Dig.</p><footer>Ann</footer></blockquote><p>Text.</p><footer>Foot</footer>", "Dig. Ann Text."),
        // Notes are content, other asides are not.
        ("<main><aside class='callout'>Mind.</aside><aside>Tea</aside><p>Text.</p></main>", "Mind. Text."),
        ("<p>A <span hidden>not</span>word and <b aria-hidden=true>no</b>more.</p>", "A word and more."),
        ("<p>Copy <button>Copy</button> <svg><title>Icon</title></svg> it.</p>", "Copy it."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn what_is_forgotten_hides_nothing() {
    for (page, expected) in [
        ("<nav>Menu<p>Text.</p>", "Menu Text."),
        ("<body><nav>Menu<p>Text.</p></body>", "Menu Text."),
        ("<main></main><p>Text.</p>", "Text."),
        ("<nav><p>All there is.</p></nav>", "All there is."),
        ("</nav></main><p>Text.</p></article>", "Text."),
        ("<main><p>Text.", "Text."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn anchors_are_on_in_or_before_headings() {
    let document = read(
        "<h1>T</h1><section id=s><h2>A</h2></section><h2 id=b>B</h2><a name=c></a>\n<h2>C</h2><h2>D <a id=d></a></h2>\
         <h2>E<a href='#e'>&para;</a></h2><p id=p>Text</p><h3>F</h3><p>x</p><h2>G</h2>",
    );
    let anchors: Vec<_> = document.anchors.iter().map(|anchor| anchor.as_deref().unwrap_or("-")).collect();
    assert_eq!(anchors, ["-", "-", "s", "b", "c", "d", "e", "e", "-"]);
    assert_eq!(document.heading_path(document.sentence_at(document.source.find("Text").unwrap())), ["T", "E"]);
}

/// The same, without what is hidden.
fn shown(source: &str) -> Vec<(Kind, String)> {
    seen(&read(source)).into_iter().filter(|(kind, _)| *kind != Kind::Markup).collect()
}

#[test]
fn hidden_elements_end_where_the_next_begins() {
    for (page, expected) in [
        ("<ul><li hidden>Old.<li>Prime it.<li>Open it.</ul><p>End.</p>", "Prime it. Open it. End."),
        ("<div><p hidden>Secret.<p>Seen.<p>More.</div>", "Seen. More."),
        ("<div><p hidden>Draft.<h2>Title</h2>Seen.</div>", "Title Seen."),
        ("<dl><dt hidden>a<dd hidden>b<dt>Term<dd>What it is.</dl>", "Term What it is."),
        ("<body><p>Seen.<p hidden>Secret.</body>", "Seen."),
        ("<p>Seen.<p hidden>Secret.", "Seen."),
        // An item of an inner list does not end that of the outer one.
        ("<ul><li hidden>Old.<ul><li>Older.</ul><li>Seen.</ul>", "Seen."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
    let rows = "<table><tr style='display:none'><td>id<tr><td>Seal<td>5</table>";
    assert_eq!(shown(rows), expected(&[(Kind::Table, "Seal 5")]));
}

#[test]
fn articles_are_the_content_unless_the_page_is_about_something_else() {
    for (page, expected) in [
        (
            "<div><h1>Replace the seal</h1><p>Open the housing.</p></div>\
             <section><h2>Related</h2><article><a href=x>Other</a></article></section>",
            "Replace the seal Open the housing. Related Other",
        ),
        (
            "<h1>Post</h1><p>The post.</p><ol><li><article><p>Nice post! This comment is longer.</p></article></ol>",
            "Post The post. Nice post! This comment is longer.",
        ),
        (
            "<p>A long text without any heading at all.</p><article><a href=x>Other</a></article>",
            "A long text without any heading at all. Other",
        ),
        // The name of the site, and what is beside the article.
        (
            "<div><h1>Site</h1></div><article><h1>Title</h1><p>Text of the article.</p></article><div>Side</div>",
            "Title Text of the article.",
        ),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn a_short_article_is_the_content_where_the_page_is_about_it() {
    let rest = "Other story here and more. ".repeat(9);
    let story = "<article><h1>Title</h1><p>Text.</p></article>";
    for (page, expected) in [
        (format!("<h2>Menu</h2>{story}<h2>Related</h2><p>{rest}</p>"), "Title Text."),
        (format!("<span>Site</span>{story}<p>{rest}</p>"), "Title Text."),
        (format!("<h1>Site</h1>{story}<h2>Related</h2><p>{rest}</p>"), "Title Text."),
        (format!("<title>Title | Site</title>{story}<h1>Other</h1><p>{rest}</p>"), "Title Text."),
        ("<div class=cookie><h1>Privacy</h1></div><article><h2>Title</h2>Text.</article>".to_owned(), "Title Text."),
    ] {
        assert_eq!(text(&page), expected, "{page}");
    }
    assert!(text(&format!("<h1>Page</h1><p>{rest}</p>{story}")).starts_with("Page Other"));
}

#[test]
fn the_title_before_the_content_stays_where_that_has_none() {
    for (page, expected) in [
        ("<header>Us <h1>Title</h1></header><main><p>Text.</p></main><p>After</p>", "Title Text."),
        ("<header><h1>Title</h1></header><article><p>Text.</p></article>", "Title Text."),
        ("<header><h1>Site</h1></header><main><h1>Title</h1><p>Text.</p></main>", "Title Text."),
        ("<header><h1>Site <button>Menu</button></h1></header><main><p>Text.</p></main>", "Site Text."),
        ("<nav><h1>Menu</h1></nav><main><p>Text.</p></main>", "Text."),
        ("<header><h1><img src=x></h1></header><main><p>Text.</p></main>", "Text."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
    let document = read("<header><h1>Title</h1></header><main><p>Lead.</p><h2>Part</h2><p>Text.</p></main>");
    assert_eq!(document.title.as_deref(), Some("Title"));
    assert_eq!(document.heading_path(document.sentence_at(document.source.find("Text").unwrap())), ["Title", "Part"]);
}

#[test]
fn the_name_of_the_site_is_no_title() {
    let main = "<main><p>Text.</p></main>";
    for (page, expected) in [
        (
            "<header><h1>Site</h1></header><main><nav>Up</nav><h2>Title</h2><p>Text.</p></main>".to_owned(),
            "Title Text.",
        ),
        (format!("<title>Path | Site</title><h1>Site</h1>{main}"), "Text."),
        (format!("<title>Site: Path</title><h1>Site</h1>{main}"), "Text."),
        (format!("<title>Path | Site</title><h1>Path</h1>{main}"), "Path Text."),
        (format!("<form><h1>Sign in</h1></form>{main}"), "Text."),
        (format!("<form><h1>Title</h1>{main}</form>"), "Title Text."),
        (format!("<div class=modal-box><h1>Sign in</h1></div>{main}"), "Text."),
        (format!("<h1 class=sr-only>Site</h1>{main}"), "Text."),
    ] {
        assert_eq!(text(&page), expected, "{page}");
    }
}

#[test]
fn buttons_are_content_where_they_are_headings() {
    let rows = [(Kind::Heading(2), "Prime it"), (Kind::Prose, "Text.")];
    assert_eq!(shown("<h2><button>Prime <b>it</b></button></h2><p>Text.</p>"), expected(&rows));
    assert_eq!(shown("<button><h2>Prime it</h2></button><div>Text.</div>"), expected(&rows));
    assert_eq!(shown("<h2>Prime it <button>Copy</button></h2><p>Text.</p>"), expected(&rows));
    assert_eq!(shown("<h2><button hidden>Copy</button></h2><p>Text.</p>"), expected(&rows[1..]));
}

#[test]
fn each_panel_behind_tabs_is_content() {
    let page = "<div role=tabpanel>Linux.</div><div role='tabpanel' hidden='true'>Windows.</div>\
        <div class=tab-pane role=tabpanel style='display: none' aria-hidden=true>Others.</div><div hidden>None.</div>";
    assert_eq!(text(page), "Linux. Windows. Others.");
    let page =
        "<div role=tablist><button role=tab>Linux</button><button>Copy</button></div><div role=tabpanel>apt</div>";
    assert_eq!(text(page), "Linux apt");
}

#[test]
fn characters_of_no_width_are_in_no_heading() {
    let document = read(
        "<h1>Docs\u{200b}</h1><h2 id=a>Install<a href='#a' class=hash-link>\u{200b}</a></h2><p>One</p>\
         <h2><a href='#b'>&#8203;</a>Use &ZeroWidthSpace;</h2><p>Two</p><h2>\u{feff}A\u{200b}b <b>c</b>\u{2060}</h2><p>Three</p>",
    );
    for (text, path) in [("One", ["Docs", "Install"]), ("Two", ["Docs", "Use"]), ("Three", ["Docs", "A\u{200b}b c"])] {
        assert_eq!(document.heading_path(document.sentence_at(document.source.find(text).unwrap())), path);
    }
    assert_eq!(document.anchor_at(document.source.find("Two").unwrap()), Some("b"));
}

#[test]
fn signs_that_link_to_definitions_and_captions_are_no_text() {
    let page = "<dl><dt id=f><code>f</code>(a)<a class=headerlink href='#f'>¶</a><dd>Does <a href='#g'>g</a>.</dl>\
        <table><caption>Pumps<a href='#t'>&para;</a></caption><tr><td>x<td><a href='#y'>y</a></table>\
        <section id=new><a href='#new'>§</a><h2>new</h2></section><p><a href='x.html'>#</a><pre><a href='#l'>#</a>1</pre>";
    let document = read(page);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts: Vec<_> = seen(&document).iter().map(|(_, text)| words(text)).collect();
    assert_eq!(texts, ["f(a)", "Does g.", "Pumps x y", "new", "#", "#1"]);
    assert_eq!(document.anchor_at(page.find("x.html").unwrap()), Some("new"));
}

#[test]
fn signs_in_tables_are_text_where_they_lead_elsewhere() {
    let page = "<table id=t><tr><th>Pump <a href='#t'>¶</a><th><a href='#'>#</a><tr id=p><td><a href='#p'>#</a>P40<td>1\
        <tr><td>P15<td><a href='#p'>§</a></table>";
    let shown = read(page).visible(Span::new(0, page.len())).into_owned();
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), ["Pump", "#", "P40", "1", "P15", "§"]);
}

#[test]
fn ids_of_tables_and_code_are_not_those_of_headings_behind_them() {
    let document =
        read("<h1 id=top>Pumps</h1><table id=t><tr><td>x</table><h2>Care</h2><p>One.<pre id=c>x</pre><h2>Use</h2>Two.");
    for words in ["One.", "Two."] {
        assert_eq!(document.anchor_at(document.source.find(words).unwrap()), Some("top"));
    }
}

#[test]
fn links_that_edit_a_section_are_in_no_heading() {
    let edit = "<span class='mw-editsection'><span>[</span><a href=e>edit</a><span>]</span></span>";
    let page = format!("<h1>Pumps</h1><h2>Use{edit}</h2><p>x.</p><div><h2>Care</h2>{edit}</div><p>y.</p>");
    assert_eq!(text(&page), "Pumps Use x. Care y.");
    assert_eq!(read(&page).heading_path(2), ["Pumps", "Use"]);
}

#[test]
fn how_words_are_read_is_not_between_their_letters() {
    let page = "<h1><ruby>案<rp>(</rp><rt>あん</rt><rp>)</rp>内<rt>ない</ruby></h1><p><ruby>図<rt>と<rb>書<rt>しょ</ruby>館です。";
    assert_eq!(text(page), "案内 図書館です。");
}

#[test]
fn cells_without_end_tags_are_set_off() {
    let page = "<table><tr><th>Name<th>Val<tr><td>x<td>y</table>";
    assert_eq!(shown(page), expected(&[(Kind::Table, "Name Val\nx y")]));
}

#[test]
fn tables_and_code_in_cells_are_set_off() {
    let page = "<table><tr><th>x<th>y<tr><td>a<pre>b</pre>c<pre>d</pre><pre>e</pre><b>f</b><td>g<table><tr><td>h</table>i</table>j";
    let shown = read(page).visible(Span::new(0, page.len())).into_owned();
    assert_eq!(
        shown.split_whitespace().collect::<Vec<_>>(),
        ["x", "y", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    );
}

#[test]
fn tables_that_lay_a_page_out_are_read_through() {
    let page = "<table><tr><td><a href=a>Home</a></td><td><h1>Old site</h1><p>A text. It goes on.</p>\
        <h2>Section</h2><ul><li>One<li>Two</ul></td></tr></table>";
    let rows = [
        (Kind::Prose, "Home"),
        (Kind::Heading(1), "Old site"),
        (Kind::Prose, "A text."),
        (Kind::Prose, "It goes on."),
        (Kind::Heading(2), "Section"),
        (Kind::ListItem, "One"),
        (Kind::ListItem, "Two"),
    ];
    assert_eq!(shown(page), expected(&rows));
    let mail = "<table><tr><td><table><tr><td><p>Hello.</p><p>See you.</p></table></table>";
    assert_eq!(shown(mail), expected(&[(Kind::Prose, "Hello."), (Kind::Prose, "See you.")]));
    let said = "<table role=presentation><tr><td>Hello.</table>";
    assert_eq!(shown(said), expected(&[(Kind::Prose, "Hello.")]));
    // Those of data stay whole, whatever their labels are.
    for data in [
        "<table><caption><h3>Weights</h3></caption><tr><th><h4>Part</h4><td>Seal</table>",
        "<table><tr><td><p>a</p><td><p>b</p></table>",
        "<table><tr><td><table><tr><td>a</table></table>",
        "<table><thead><tr><td>Code</thead><tr><td><h3>E1</h3><td>It is dry.</table>",
        "<table class='wide data'><tr><td><h3>E1</h3>It is dry.</table>",
        "<table border=1><tr><td><h3>E1</h3>It is dry.</table>",
        "<table><tr><th>Type<tr><td><ul><li>a</ul><tr><td><table><tr><td>int</table></table>",
        "<table><tr><td><h3>Free</h3><td>0 EUR<tr><td><h3>Pro</h3><td>9 EUR</table>",
    ] {
        let kinds: Vec<Kind> = shown(data).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [Kind::Table], "{data}");
    }
}

#[test]
fn headings_in_tables_own_nothing_behind_them() {
    let document =
        read("<h1>A</h1><p>Choose.</p><table><tr><td><h2>Free</h2>It is small.</table><p>All have support.</p>");
    assert_eq!(document.heading_path(document.sentence_at(document.source.find("All").unwrap())), ["A"]);
    // In a table that lays the page out, another holds data.
    let page = "<table><tr><td><h1>A</h1><p>Choose one.</p><table><tr><td><h3>Free</h3><td>0<tr><td><h3>Pro</h3><td>9\
        </table><table><tr><td><h2>Box</h2><p>Text.</p></table></table>";
    let kinds: Vec<Kind> = shown(page).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Kind::Heading(1), Kind::Prose, Kind::Table, Kind::Heading(2), Kind::Prose]);
}

#[test]
fn numbers_of_lines_are_no_content() {
    let page = "<table class=highlighttable><tr><td class='linenos'><div><pre>1\n2</pre></div></td>\
        <td class=code><div><pre>a = 1\nb = 2</pre></div></td></tr></table>";
    assert_eq!(shown(page), expected(&[(Kind::Code, "a = 1\nb = 2")]));
    let page = "<pre><code><table class=rouge-table><tbody><tr><td class='rouge-gutter gl'><pre>1\n</pre></td>\
        <td class=rouge-code><pre>a = 1\n</pre></td></tr></tbody></table></code></pre>";
    assert_eq!(shown(page), expected(&[(Kind::Code, "a = 1")]));
    let page = "<table><tr><td class=gutter>1<td class=code><div>a</div></table>";
    assert_eq!(shown(page), expected(&[(Kind::Table, "a")]));
    // Where there are no lines to number.
    let page = "<pre>a</pre><table><tr><th>Part<th class=gutter>Gutter<tr><td>a<td class=gutter>5 mm</table>";
    assert_eq!(shown(page), expected(&[(Kind::Code, "a"), (Kind::Table, "Part Gutter\na 5 mm")]));
}

#[test]
fn pictures_read_as_what_they_say() {
    for (page, expected) in [
        ("<p>Open <img src=a alt='the valve'> now.</p>", "Open the valve now."),
        ("<p>Open<img src=a alt=valve>now.</p>", "Open valve now."),
        ("<p>Open <img src=a alt=valve>, then (<img src=b alt=wait>).</p>", "Open valve, then (wait)."),
        ("<p>One.</p><div><img src=a alt='A pump &amp; a tank'></div><p>Two.</p>", "One. A pump & a tank Two."),
        ("<figure><img src=a alt='A pump'><figcaption>In 1990.</figcaption></figure>", "A pump In 1990."),
        ("<ul><li><img src=a alt=Seal></ul>", "Seal"),
        ("<p>Text.<img src=a alt=''><img src=b><img alt=dot width=1><img alt=x aria-hidden=true></p>", "Text."),
        ("<div hidden><img alt=Secret></div><p>Text.</p>", "Text."),
        ("<h1><img src=a alt='The pump'></h1><p>Text.</p>", "The pump Text."),
        ("<h2>Valves<a href='#v'><img src=a alt='Link to it'></a></h2><p>Text.</p>", "Valves Text."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
    let table = "<table><tr><th>Part<th><img alt=Size>in mm<tr><td><img alt=Seal></td><td>5</table>";
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&shown(table)[0].1), words("Part Size in mm Seal 5"));
    // No sentence ends in a tag.
    let document = read("<p>See <img alt='One. Two. Three.'> there. End.</p>");
    let sentences: Vec<&str> = document.sentences.iter().map(|sentence| sentence.span.of(&document.source)).collect();
    assert!(sentences.iter().all(|one| one.matches('<').count() == one.matches('>').count()), "{sentences:?}");
}

#[test]
fn sections_of_characters_and_notations_of_formulas() {
    let page = "<p>One<![CDATA[ or <b> two ]]> more.</p>";
    assert_eq!(text(page), "One more.");
    assert_eq!(text(&format!("<?xml version='1.0'?>{page}")), "One or <b> two more.");
    let formula =
        "<p>So <math><mi>x</mi><annotation encoding='application/x-tex'>\\frac x</annotation></math> it is.</p>";
    assert_eq!(text(formula), "So x it is.");
}
