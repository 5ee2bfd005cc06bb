#![allow(clippy::unwrap_used)]

use std::path::Path;

use pericope_testkit::hostile;

use crate::{ReadError, ReadOptions, read_bytes, reader};

/// A file of pages whose content is given, without compression.
fn file(pages: &[&str]) -> Vec<u8> {
    let kids: String = (0..pages.len()).map(|i| format!("{} 0 R ", 10 + 2 * i)).collect();
    let mut objects = vec![
        (1, "<</Type/Catalog/Pages 2 0 R>>".to_owned()),
        (2, format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len())),
        (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned()),
        (5, composite("UniGB-UCS2-H")),
        (6, composite("GBK-EUC-H")),
        (7, composite("UniGB-UCS2-H").replace("/DW 1000", "/DW 0/W[32 47 250 48 57 500 65[700 700]]")),
    ];
    for (i, content) in pages.iter().enumerate() {
        let resources = "<</Font<</F1 3 0 R/F2 5 0 R/F3 6 0 R/F4 7 0 R>>/XObject<</X 4 0 R>>>>";
        let page = format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources{resources}/Contents {} 0 R>>",
            11 + 2 * i
        );
        objects.push((10 + 2 * i, page));
        objects.push((11 + 2 * i, format!("<</Length {}>>\nstream\n{content}\nendstream", content.len())));
    }
    let form = "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>/Length 5>>";
    objects.push((4, format!("{form}\nstream\n/X Do\nendstream")));
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (number, body) in &objects {
        offsets.push((*number, bytes.len()));
        bytes.extend(format!("{number} 0 obj\n{body}\nendobj\n").as_bytes());
    }
    let table = bytes.len();
    bytes.extend(b"xref\n");
    for (number, offset) in &offsets {
        bytes.extend(format!("{number} 1\n{offset:010} 00000 n \n").as_bytes());
    }
    let trailer = format!("trailer\n<</Size 100/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n");
    bytes.extend(trailer.as_bytes());
    bytes
}

/// A font of Chinese that is not in the file.
fn composite(encoding: &str) -> String {
    let about = "<</Type/FontDescriptor/FontName/STSong-Light/Flags 6>>";
    let descendant = format!("<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000/FontDescriptor{about}>>");
    format!("<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/{encoding}/DescendantFonts[{descendant}]>>")
}

fn lines(texts: &[&str]) -> String {
    let rows: String = texts.iter().map(|text| format!("({text}) Tj 0 -14 Td\n")).collect();
    format!("BT /F1 12 Tf 72 770 Td\n{rows}ET")
}

fn decode(bytes: Vec<u8>) -> Result<String, ReadError> {
    reader("pdf").unwrap().decode(Path::new("a.pdf"), bytes).map(|decoded| decoded.text)
}

#[test]
fn pages_become_plain_text() {
    let first = lines(&[
        "A pump moves water from the well to the tank by pres-",
        "sure. It hums while it does that, all day long.",
    ]);
    let second = lines(&["The second page."]);
    let bytes = file(&[&first, &second]);
    let expected = "A pump moves water from the well to the tank by pressure. It hums while it does that, all day long.\
        \n\n\u{c}\nThe second page.\n";
    assert_eq!(decode(bytes.clone()).unwrap(), expected);
    let mut documents = Vec::new();
    read_bytes("a.pdf", "pdf", bytes, &ReadOptions::default(), &mut |document| documents.push(document.unwrap()));
    assert_eq!(documents[0].check(), Ok(()));
    let sentences: Vec<_> = (0..documents[0].len()).map(|i| documents[0].sentence(i)).collect();
    assert_eq!(sentences.len(), 3);
    assert_eq!(sentences[2], "The second page.");
}

#[test]
fn bad_files_are_named_errors() {
    assert!(matches!(decode(file(&["", ""])), Err(ReadError::NoText { .. })));
    assert!(matches!(decode(b"%PDF-1.4\nnothing".to_vec()), Err(ReadError::Pdf { .. })));
    assert!(matches!(decode(b"no pdf".to_vec()), Err(ReadError::Pdf { .. })));
    assert!(matches!(decode(file(&[])), Err(ReadError::Pdf { .. })));
}

#[test]
fn a_page_that_fails_leaves_the_others() {
    // An operator without its operand makes the parser panic.
    let good = lines(&["The good page."]);
    let text = decode(file(&["BT Tf (x) Tj ET", &good])).unwrap();
    assert!(text.contains("The good page."), "{text:?}");
}

/// The text that is read, and what is missing from it.
fn both(bytes: Vec<u8>) -> (String, Option<String>) {
    let decoded = reader("pdf").unwrap().decode(Path::new("a.pdf"), bytes).unwrap();
    (decoded.text, decoded.missing)
}

#[test]
fn pages_that_cannot_be_read_are_named_behind_the_rest() {
    let good = lines(&["The good page."]);
    let bytes = file(&[&good, &format!("{} BT Tf (x) Tj ET", lines(&["The page that breaks."])), &good]);
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    read_bytes("a.pdf", "pdf", bytes, &ReadOptions::default(), &mut |read| match read {
        Ok(document) => documents.push(document),
        Err(error) => errors.push(error),
    });
    assert_eq!(documents[0].source.matches("The good page.").count(), 2);
    assert!(documents[0].source.contains("The page that breaks."));
    assert!(matches!(errors.as_slice(), [ReadError::InPart { .. }]), "{errors:?}");
    assert_eq!(errors[0].to_string(), "a.pdf: page 2 of 3 could not be read in full: the parser gave up");
    assert_eq!(both(file(&[&good])).1, None);
}

#[test]
fn fonts_that_are_not_in_the_file_leave_the_text_around_them() {
    let draw = |font: &str, code: &str| {
        let before = lines(&["Before the Chinese word."]);
        format!("{before}\nBT /{font} 12 Tf 72 680 Td <{code}> Tj ET\nBT /F1 12 Tf 72 660 Td (And after it.) Tj ET")
    };
    let (text, missing) = both(file(&[&draw("F2", "6C346CF5")]));
    assert!(text.contains("Before") && text.contains("水泵") && text.contains("And after it."), "{text:?}");
    assert_eq!(missing, None);
    let (text, missing) = both(file(&[&lines(&["One page."]), &draw("F3", "CBAE")]));
    assert!(text.contains("Before the Chinese word.") && text.contains("And after it."), "{text:?}");
    let why = "the encoding of a font is not supported (GBK-EUC-H)";
    assert_eq!(missing, Some(format!("page 2 of 2 could not be read in full: {why}")));
    let Err(ReadError::Pdf { message, .. }) = decode(file(&["BT /F3 12 Tf 72 680 Td <CBAE> Tj ET"])) else { panic!() };
    assert_eq!(message, why);
}

#[test]
fn widths_of_ranges_of_codes_tell_where_letters_touch() {
    // 2.1 AB, each letter where the one before ends.
    let page = "BT /F4 10 Tf 72 680 Td <0032> Tj 5 0 Td <002E> Tj 2.5 0 Td <0031> Tj 5 0 Td <0020> Tj 2.5 0 Td <0041> Tj 7 0 Td <0042> Tj ET";
    assert_eq!(decode(file(&[page])).unwrap(), "2.1 AB\n");
}

#[test]
fn hebrew_is_read_from_right_to_left() {
    // The letters as they stand, from left to right.
    let seen = "BT /F2 12 Tf 72 680 Td <05DD05D505DC05E9> Tj ET";
    assert_eq!(decode(file(&[seen])).unwrap(), "שלום\n");
    // One by one, from the right.
    let drawn = |x: u32, code: &str| format!("BT /F2 12 Tf {x} 680 Td <{code}> Tj ET ");
    let read = [drawn(108, "05E9"), drawn(96, "05DC"), drawn(84, "05D5"), drawn(72, "05DD")].concat();
    assert_eq!(decode(file(&[&read])).unwrap(), "שלום\n");
}

#[test]
fn a_lone_number_on_a_page_is_text() {
    let page = lines(&["The total amount that is due at the end of the month, in euros, is", "4200"]);
    assert!(decode(file(&[&page])).unwrap().contains("4200"));
}

#[test]
fn what_fills_up_the_last_block_of_a_file_is_passed_over() {
    let mut bytes = file(&[&lines(&["The good page."])]);
    bytes.extend([0; 3_000]);
    assert_eq!(decode(bytes).unwrap(), "The good page.\n");
}

#[test]
fn a_form_that_draws_itself_ends() {
    let page = format!("/X Do\n{}", lines(&["Still here."]));
    assert!(decode(file(&[&page])).unwrap().contains("Still here."));
}

#[test]
fn whatever_draws_itself_ends() {
    // By these the process was aborted: no test could fail more loudly.
    for name in ["pdf_form_bare", "pdf_form_image", "pdf_form_tight", "pdf_form_own"] {
        let (_, bytes) = hostile::document(name, 1).unwrap();
        assert!(decode(bytes).unwrap().contains(hostile::pdf::READABLE), "{name}");
    }
}

#[test]
fn it_is_known_to_need_a_process_of_its_own() {
    assert!(reader("pdf").unwrap().needs_isolation());
    assert!(crate::formats().filter(|reader| reader.needs_isolation()).count() == 1);
}

#[test]
fn broken_bytes_never_panic() {
    let whole = file(&[&lines(&["One line of text.", "And one more."])]);
    for cut in (0..whole.len()).step_by(37) {
        let _ = decode(whole[..cut].to_vec());
        let mut changed = whole.clone();
        changed[cut] = changed[cut].wrapping_add(1 + (cut % 200) as u8);
        let _ = decode(changed);
    }
}

#[test]
fn larger_letters_are_headings() {
    let text = "(A pump moves water from the well to the tank, all day long and half the night.) Tj";
    let large = |size: u32, words: &str, down: u32| format!("/F1 {size} Tf 0 -{down} Td ({words}) Tj ");
    let page = [
        "BT /F1 22 Tf 72 770 Td (The handbook) Tj ",
        &large(22, "of pumps", 28),
        &large(10, "Read it.", 40),
        &large(14, "Use", 40),
        &format!("/F1 10 Tf 0 -30 Td {text} 0 -12 Td {text} "),
        &large(14, "Care and oil", 40),
        &format!("/F1 10 Tf 0 -30 Td {text} 0 -12 Td {text} ET"),
    ];
    let mut documents = Vec::new();
    let bytes = file(&[&page.concat()]);
    read_bytes("a.pdf", "pdf", bytes, &ReadOptions::default(), &mut |document| documents.push(document.unwrap()));
    assert_eq!(documents[0].check(), Ok(()));
    let paths: Vec<_> = documents[0].sections.iter().map(|path| path.join(" > ")).collect();
    assert_eq!(
        paths,
        ["", "The handbook of pumps", "The handbook of pumps > Use", "The handbook of pumps > Care and oil"]
    );
    assert_eq!(documents[0].title.as_deref(), Some("The handbook of pumps"));
}
