//! PDFs that make a parser overflow its stack, take any memory, or never come to an end.
//!
//! Most hold the page `It is readable.` besides: what a reader makes of it is its own decision.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::Family;

/// The text that is on the page, whatever else is.
pub const READABLE: &str = "It is readable.";

/// The families. Scales are what their comment says.
pub(super) const FAMILIES: &[Family] = &[
    // Forms that draw themselves. The scale is the number of pages that draw them.
    pdf("pdf_form_bare", 1, |n| drawing(n, "", "/F Do ")),
    pdf("pdf_form_image", 1, |n| drawing(n, "/Subtype/Image/Resources<</XObject<</F 6 0 R>>>>", "/F Do ")),
    pdf("pdf_form_tight", 1, |n| drawing(n, "/Subtype/Form", "/F()Do ")),
    pdf("pdf_form_own", 1, |n| drawing(n, "/Subtype/Form/Resources<</XObject<</F 6 0 R>>>>", "/F Do ")),
    // Fonts that say what their codes mean. The scale is the depth, in brackets, and the number of codes.
    pdf("pdf_cmap_brackets", 1_000_000, |n| mapped(&"[".repeat(n))),
    pdf("pdf_cmap_parentheses", 1_000_000, |n| mapped(&"(".repeat(n))),
    pdf("pdf_cmap_range", 0xffff_ffff, |n| {
        mapped(&format!("1 beginbfrange\n<00000000> <{n:08x}> <0041>\nendbfrange\n"))
    }),
    // Small when packed. The scale is what comes out, in MiB; of `repeated` how often 64 MiB come out.
    pdf("pdf_bomb_flate", 1_000, |n| blanks(n, "/Filter/FlateDecode")),
    pdf("pdf_bomb_image", 1_000, |n| blanks(n, "/X/Image/Filter/FlateDecode")),
    pdf("pdf_bomb_escaped", 1_000, |n| blanks(n, "/Filter/Fl#61teDecode")),
    pdf("pdf_bomb_padded", 1_000, |n| blanks(n, &format!("/Filter/FlateDecode{}", " ".repeat(4_000)))),
    pdf("pdf_bomb_obj", 1_000, |n| blanks(n, "/Filter/FlateDecode/X(obj)")),
    pdf("pdf_bomb_lzw", 1_000, |n| page(&stream("/Filter/LZWDecode", &lzw(n)))),
    pdf("pdf_bomb_repeated", 1_000, repeated),
    // Each form draws the next one ten times. The scale is the number of forms.
    pdf("pdf_laughs", 14, laughs),
    // Circles. The scale counts for nothing.
    pdf("pdf_xref_loop", 1, xref_loop),
    pdf("pdf_page_loop", 1, |_| {
        file(&[CATALOG, "<</Type/Pages/Kids[2 0 R 3 0 R]/Count 9/MediaBox[0 0 612 792]>>"], &[])
    }),
    pdf("pdf_parent_loop", 1, |_| file(&[CATALOG, "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R>>"], &[])),
    // Numbers that are none when they are worked with.
    pdf("pdf_numbers", 1, |n| {
        let far = "99999999999999999999999999 0 Td (c) Tj ".repeat(n);
        page(&stream("", format!("BT /F1 1e999 Tf 1e308 0 0 1e308 0 0 cm (a b) Tj {far}ET").as_bytes()))
    }),
    // Deep nesting, in objects and in content.
    pdf("pdf_arrays", 100_000, |n| {
        let deep = format!("{}{}", "[".repeat(n), "]".repeat(n));
        file(&[CATALOG, PAGES], &[deep.as_bytes()])
    }),
    pdf("pdf_content_arrays", 100_000, |n| page(&stream("", format!("{} {}", "[".repeat(n), text()).as_bytes()))),
    pdf("pdf_states", 1_000_000, |n| page(&stream("", format!("{}{}", "q ".repeat(n), text()).as_bytes()))),
    // Lengths and words that promise what does not come.
    pdf("pdf_length", 1, |_| page(format!("<</Length 99999999999>>\nstream\n{}\nendstream", text()).as_bytes())),
    pdf("pdf_white", 1_000_000, |n| format!("%PDF-1.5\n{}", " ".repeat(n)).into_bytes()),
    pdf("pdf_streams", 20_000, |n| {
        format!("%PDF-1.5\n{}", "1 0 obj <</Filter/FlateDecode>> stream\n".repeat(n)).into_bytes()
    }),
    // A good file, cut off behind so many bytes.
    pdf("pdf_cut", 300, |n| {
        let mut whole = readable();
        whole.truncate(n);
        whole
    }),
];

const CATALOG: &str = "<</Type/Catalog/Pages 2 0 R>>";
const PAGES: &str = "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 612 792]>>";
const PAGE: &str = "<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</F 6 0 R>>>>/Contents 4 0 R>>";
const FONT: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";

const fn pdf(name: &'static str, scale: usize, make: fn(usize) -> Vec<u8>) -> Family {
    Family { name, extension: "pdf", scale, make }
}

/// Returns a good file, with [`READABLE`] on its page.
#[must_use]
pub fn readable() -> Vec<u8> {
    page(&stream("", text().as_bytes()))
}

/// Returns a file with [`READABLE`] on its page, behind which a parser gives up.
#[must_use]
pub fn readable_in_part() -> Vec<u8> {
    // An operator without its operand.
    page(&stream("", format!("{}BT Tf (x) Tj ET", text()).as_bytes()))
}

fn text() -> String {
    format!("BT /F1 12 Tf 72 700 Td ({READABLE}) Tj ET ")
}

fn stream(about: &str, data: &[u8]) -> Vec<u8> {
    let mut made = format!("<<{about}/Length {}>>\nstream\n", data.len()).into_bytes();
    made.extend(data);
    made.extend(b"\nendstream");
    made
}

/// The objects, numbered from 1, with the table that says where they are.
fn numbered<'a>(objects: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut made = b"%PDF-1.5\n".to_vec();
    let mut table = String::from("0000000000 65535 f \n");
    for (i, object) in objects.enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", made.len()));
        made.extend(format!("{} 0 obj\n", i + 1).as_bytes());
        made.extend(object);
        made.extend(b"\nendobj\n");
    }
    let (at, count) = (made.len(), table.lines().count());
    let end = format!("xref\n0 {count}\n{table}trailer\n<</Size {count}/Root 1 0 R>>\nstartxref\n{at}\n%%EOF\n");
    made.extend(end.as_bytes());
    made
}

/// Catalogue and pages, then the page, its readable content, its font, and more.
fn file(first: &[&str], more: &[&[u8]]) -> Vec<u8> {
    let content = stream("", text().as_bytes());
    let rest = [PAGE.as_bytes(), &content, FONT.as_bytes()];
    numbered(first.iter().map(|object| object.as_bytes()).chain(rest).chain(more.iter().copied()))
}

/// A page of that content.
fn page(content: &[u8]) -> Vec<u8> {
    let objects = [CATALOG.as_bytes(), PAGES.as_bytes(), PAGE.as_bytes(), content, FONT.as_bytes()];
    numbered(objects.into_iter())
}

/// Pages that draw object 6: a stream of that kind and content.
fn drawing(pages: usize, about: &str, content: &str) -> Vec<u8> {
    let kids = "3 0 R ".repeat(pages.max(1));
    let tree = format!("<</Type/Pages/Kids[{kids}]/Count {}/MediaBox[0 0 612 792]>>", pages.max(1));
    let (drawn, form) = (stream("", format!("{}/F Do ", text()).as_bytes()), stream(about, content.as_bytes()));
    let objects = [CATALOG.as_bytes(), tree.as_bytes(), PAGE.as_bytes(), &drawn, FONT.as_bytes(), &form];
    numbered(objects.into_iter())
}

/// A page whose font brings this map from codes to characters.
fn mapped(map: &str) -> Vec<u8> {
    let (content, map) = (stream("", text().as_bytes()), stream("", map.as_bytes()));
    let font = FONT.replace(">>", "/ToUnicode 6 0 R>>");
    let objects = [CATALOG.as_bytes(), PAGES.as_bytes(), PAGE.as_bytes(), &content, font.as_bytes(), &map];
    numbered(objects.into_iter())
}

/// So many MiB of blanks before the content, packed.
fn packed(mebibytes: usize) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..mebibytes {
        packer.write_all(&blanks).expect("a vector takes it");
    }
    packer.write_all(text().as_bytes()).expect("a vector takes it");
    packer.finish().expect("a vector takes it")
}

fn blanks(mebibytes: usize, about: &str) -> Vec<u8> {
    page(&stream(about, &packed(mebibytes)))
}

/// One stream of 64 MiB that a page names so often.
fn repeated(times: usize) -> Vec<u8> {
    let content = stream("/Filter/FlateDecode", &packed(64));
    let page = PAGE.replace("4 0 R", &format!("[{}]", "4 0 R ".repeat(times)));
    let objects = [CATALOG.as_bytes(), PAGES.as_bytes(), page.as_bytes(), &content, FONT.as_bytes()];
    numbered(objects.into_iter())
}

fn laughs(forms: usize) -> Vec<u8> {
    let form = |i: usize| {
        let next = format!("/Subtype/Form/Resources<</XObject<</F {} 0 R>>>>", 7 + i);
        stream(&next, "/F Do ".repeat(10).as_bytes())
    };
    let mut more: Vec<Vec<u8>> = (0..forms).map(form).collect();
    more.push(stream("/Subtype/Form", b" "));
    let drawn = stream("", format!("{}/F Do ", text()).as_bytes());
    let first = [CATALOG.as_bytes(), PAGES.as_bytes(), PAGE.as_bytes(), &drawn, FONT.as_bytes()];
    numbered(first.into_iter().chain(more.iter().map(Vec::as_slice)))
}

/// A table whose predecessor is itself.
fn xref_loop(_: usize) -> Vec<u8> {
    let whole = readable();
    let end = whole.windows(5).position(|w| w == b"xref\n").unwrap_or(0);
    let table = String::from_utf8_lossy(&whole[end..]).replace("trailer\n<<", &format!("trailer\n<</Prev {end}"));
    [&whole[..end], table.as_bytes()].concat()
}

/// Codes of 12 bits, the last of which stands for a string of some 3.8 kB; so many MiB of blanks come out.
fn lzw(mebibytes: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    // Clear the table; then a blank, and codes that each stand for one blank more than the one before.
    bits.push(256, 9);
    bits.push(u32::from(b' '), 9);
    let mut width = 9;
    for code in 258..4094u32 {
        if code >= (1 << width) - 1 {
            width += 1;
        }
        bits.push(code, width);
    }
    for _ in 0..mebibytes * (1 << 20) / 3_837 {
        bits.push(4093, 12);
    }
    bits.push(257, 12);
    bits.bytes
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, code: u32, width: u32) {
        for bit in (0..width).rev() {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= (((code >> bit) & 1) as u8) << (7 - self.used % 8);
            }
            self.used += 1;
        }
    }
}
