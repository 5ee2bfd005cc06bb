//! Plain text.

mod headings;
mod items;

use std::sync::Arc;

use pericope_api::{Document, Format, Kind, Span};

use self::headings::{headings, is_marked};
use self::items::items;
use super::reader::Reader;
use crate::builder::Builder;
use crate::encoding::DecodedHeading;
use crate::error::ReadError;
use crate::inline::Inline;
use crate::options::ReadOptions;

/// Plain text: paragraphs end at blank lines, and where the lines of a list, a table or a conversation begin. Numbered lines, lines of
/// capitals and others that are marked as headings begin sections.
pub(super) struct Plain;

impl Reader for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        sink(Ok(document(id, source, &[], options)));
    }
}

/// The document of a text, of which those `given` lines are headings whatever their form. Each is a whole run of lines without a blank one.
pub(super) fn document(id: &str, source: Arc<str>, given: &[DecodedHeading], options: &ReadOptions) -> Document {
    let mut builder = Builder::new(&source, options.splitter.as_ref());
    let from = builder.skip_byte_order_mark();
    let blocks: Vec<Span> = paragraphs(&source, from).collect();
    let (headings, is_titled) = headings(&source, &blocks, given);
    let mut headings = headings.into_iter().peekable();
    for (i, &block) in blocks.iter().enumerate() {
        let mut rest = block;
        if let Some(heading) = headings.next_if(|heading| heading.block == i) {
            let (name, shown) = (plain(&source, heading.text), plain(&source, heading.extent));
            builder.heading_called(&name, heading.extent, &shown, heading.level, None);
            rest = Span::new(heading.extent.end, block.end).trimmed(&source);
        }
        for span in items(&source, rest) {
            builder.text(span, &plain(&source, span), Kind::Prose);
        }
    }
    builder.title = builder.title.take().filter(|_| is_titled);
    builder.finish(id, Format::Plain, source.clone())
}

/// The text of a block, all of which shows.
fn plain(source: &str, span: Span) -> Inline<'_> {
    let mut inline = Inline::default();
    inline.plain(source, span);
    inline
}

/// Runs of non-blank lines, trimmed. A line that is marked as a heading begins another one.
fn paragraphs(source: &str, from: usize) -> impl Iterator<Item = Span> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        at += source[at..].len() - source[at..].trim_start().len();
        let start = at;
        for line in source[start..].split_inclusive('\n') {
            let text = line.trim();
            if text.is_empty() || (at > start && is_marked(text)) {
                break;
            }
            at += line.len();
        }
        (at > start).then(|| Span::new(start, at).trimmed(source))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Kind;

    use crate::{ReadOptions, read_text};

    #[test]
    fn paragraphs_end_at_blank_lines_whatever_ends_the_lines() {
        let source = "\u{feff}First one. Second\r\none.\r\n \t\r\n\r\nThird one.  \r\n";
        let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()));
        let texts: Vec<_> = (0..document.len()).map(|i| document.sentence(i)).collect();
        assert_eq!(texts, ["\u{feff}First one.", "Second\r\none.", "Third one."]);
        assert_eq!(document.visible(document.sentences[0].span), "First one.");
        let paragraphs: Vec<_> = document.sentences.iter().map(|s| s.paragraph).collect();
        assert_eq!(paragraphs, [0, 0, 1]);
    }

    fn parts(source: &str) -> Vec<String> {
        let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()), "{source:?}");
        (0..document.len()).map(|i| document.sentence(i).to_owned()).collect()
    }

    #[test]
    fn lines_of_lists_tables_and_conversations_are_not_run_together() {
        assert_eq!(
            parts("Take:\n- flour (#8)\n- water,\n  warm\nEnd"),
            ["Take:", "- flour (#8)", "- water,\n  warm\nEnd"]
        );
        assert_eq!(parts("1. one\n2) two"), ["1. one", "2) two"]);
        assert_eq!(parts("either\n(a) one; or\n(b) two"), ["either", "(a) one; or", "(b) two"]);
        assert_eq!(parts("[9:05] ann: yes\n[14:32] bob: no. never"), ["[9:05] ann: yes", "[14:32] bob: no. never"]);
        assert_eq!(parts("Ann Lee: yes\nBOB: no"), ["Ann Lee: yes", "BOB: no"]);
        assert_eq!(parts("a;b;c\nd;e;f."), ["a;b;c", "d;e;f."]);
        assert_eq!(parts("a\tb\tc\nd\te\t\n\tf\tg"), ["a\tb\tc", "d\te", "f\tg"]);
        assert_eq!(
            parts("2024-01-01 10:00:01 b. Bad\n2024-01-02 c"),
            ["2024-01-01 10:00:01 b.", "Bad", "2024-01-02 c"]
        );
        assert_eq!(
            parts("\u{7530}\u{4e2d}\u{ff1a}a\n\u{68ee}\u{ff1a}b"),
            ["\u{7530}\u{4e2d}\u{ff1a}a", "\u{68ee}\u{ff1a}b"]
        );
        assert_eq!(parts("- a\n  wrapped\n- b\n  - c\n- d"), ["- a\n  wrapped", "- b", "- c", "- d"]);
    }

    #[test]
    fn lines_of_running_text_that_happen_to_begin_like_items_are_not_parted() {
        for text in [
            "He came in\n1999. and went",
            "It is so\n- or not",
            "We say:\nNo: never again",
            "\u{e9}: x\n\u{2022}y",
            // Several in one block of wrapped lines.
            "the principle of\nContradiction says: B and the\nother one of\nIdentity says: C",
            "as table\n2. shows and also\nwhat is in table\n3. of the same book",
            "he went; he came\nand so; they met; again\nthere; it was; all over",
        ] {
            assert_eq!(parts(text), [text]);
        }
    }

    /// The headings of a text, each indented by its level; a title ends with `!`.
    fn outline(source: &str) -> Vec<String> {
        let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()), "{source:?}");
        let headings = document.sentences.iter().filter_map(|sentence| match sentence.kind {
            Kind::Heading(level) => {
                Some((level, document.sections[sentence.section as usize].last().unwrap().to_string()))
            }
            _ => None,
        });
        let is_title = |text: &str| document.title.as_deref() == Some(text);
        headings
            .map(|(level, text)| {
                let mark = if is_title(&text) { "!" } else { "" };
                format!("{}{text}{mark}", " ".repeat(usize::from(level) - 1))
            })
            .collect()
    }

    #[test]
    fn numbered_lines_are_headings() {
        assert_eq!(
            outline("LEASE\n\nMade today.\n\n1. TERM\n\n1.1 It runs for a year.\n\n2. RENT\n\n2.1 Rent is due.\n"),
            ["LEASE!", " 1. TERM", " 2. RENT"]
        );
        assert_eq!(
            outline(
                "Abstract\n\nBees.\n\n1 Introduction\nBees fly to flowers, and back.\n\n2 Methods\n\n2.1 Animals\n\n\
                 Bees.\n\n2.2 Arena\n\nA box.\n\n4 Results\n\nBlue.\n\nReferences\n\nOne."
            ),
            ["Abstract", "1 Introduction", "2 Methods", " 2.1 Animals", " 2.2 Arena", "4 Results", "References"]
        );
        assert_eq!(
            outline("I. First\n\nA. One\n\nx.\n\nB. Two\n\nx.\n\nII. Second\n\nA. One\n\nx.\n\nB. Two\n\nx."),
            ["I. First", " A. One", " B. Two", "II. Second", " A. One", " B. Two"]
        );
        assert_eq!(
            outline(
                "第1条（適用）\n利用者に適用されます。これは長い文です。\n\n一、概述\n\n内容。\n\n二、方法\n\n1. 动物\n\n蜂。\n\n2. 场地\n\n箱。"
            ),
            ["第1条（適用）", " 一、概述", " 二、方法", "  1. 动物", "  2. 场地"]
        );
    }

    #[test]
    fn lists_and_tables_of_contents_are_no_headings() {
        for text in [
            "1. Flour\n\n2. Sugar\n\n3. Butter\n\nMix it.",
            "1. Flour\n2. Sugar\n3. Butter.",
            "Take 3 things.\n\n7. Seven\n\nThat is all.",
            "12 May\n\nx.\n\n3 June\n\ny.",
            "The commands are:\n\nPSYNC, PING\n\nNo more.",
            "A text.\n\nWARNING: THIS IS NEW\n\nIt goes on.",
            "We sell this.\n\nAPPLES\n\nPEARS\n\nPLUMS\n\nThey are fruit.\n\nBEETS\n\nLEEKS\n\nONIONS\n\nThey are not.",
            "ALL OF THIS\n\nIS IN CAPITALS\n\nTO THE END",
            "NEW YORK\nNY 10001",
            "    NEW YORK HAS\n    people.\n\n    IN A FULL LINE\n    of it.",
            "1. A long item that goes on\n   in the next line.\n2. Another one.",
            "0. This applies to any work which has\na notice in it that says so, as below.\n\n1. You may copy all of it to whom you\n   \
             like, if you keep the notice there.",
            "HAMLET\nTo be, or not to be, that is it.\n\nOPHELIA\nGood my lord, how are you?\n\nHAMLET\nI humbly thank you; \
             well, well, well.\n\nOPHELIA\nMy lord, I have remembrances of yours.",
            "Name   Age\n----------\nAnn    7",
            "It was so.\n\nBest regards,\n-------------\nAnn Lee",
        ] {
            assert_eq!(outline(text), [""; 0], "{text:?}");
        }
        let contents = "1. Start\n\n2. End\n\n";
        assert_eq!(outline(&format!("{contents}1. Start\n\nIt begins.\n\n2. End\n\nIt ends.")), ["1. Start", "2. End"]);
    }

    #[test]
    fn chapters_marks_and_capitals_are_headings() {
        assert_eq!(
            outline(
                "THE HILL\n\nPart One\n\nCHAPTER I. Up\n\nHe went.\n\nCHAPTER II. Down\n\nHe came.\n\nPart Two\n\n..."
            ),
            ["THE HILL!", " Part One", "  CHAPTER I. Up", "  CHAPTER II. Down", " Part Two"]
        );
        assert_eq!(
            outline("NAME\n    ls - list what is in a directory\n\nSYNOPSIS\n    ls [OPTION]... [FILE]..."),
            ["NAME", "SYNOPSIS"]
        );
        assert_eq!(
            outline(" = Bee = \n \n A bee flies . \n = = Life = = \n It lives .\n = = = Food = = =\n\n x"),
            ["Bee!", " Life", "  Food"]
        );
        assert_eq!(
            outline("======\nManual\n======\n\nUse\n---\nTurn it.\n\nCare\n---\nOil it."),
            ["Manual!", " Use", " Care"]
        );
        for second in ["INTRODUCTION", "IN SHORT"] {
            assert_eq!(
                outline(&format!("USER GUIDE\n\n{second}\n\nIt is one.\n\nSETUP\n\nTurn it on.")),
                ["USER GUIDE!", &format!(" {second}"), " SETUP"]
            );
        }
        assert_eq!(
            outline("FRUIT\n\n1. Red\n\na.\n\n2. Blue\n\nb.\n\nROOTS\n\n1. Long\n\nc.\n\n2. Short\n\nd."),
            ["FRUIT", " 1. Red", " 2. Blue", "ROOTS", " 1. Long", " 2. Short"]
        );
    }

    #[test]
    fn chapters_have_titles_below_their_numbers() {
        assert_eq!(
            outline(
                "CHAPTER I.\nDown the Hill\n\nHe went.\n\nCHAPTER II.\nUp\n\nHe came.\n\nChapter 3\nNo more of it,\n\nhe said."
            ),
            ["CHAPTER I. Down the Hill", "CHAPTER II. Up"]
        );
        assert_eq!(
            outline("Part One\nIt began in a May.\n\nPart Two\nIt came to its end.\n\nSo."),
            ["Part One", "Part Two"]
        );
        assert_eq!(
            outline(
                "THE LEASE\n\nIt is one.\n\nARTICLE I\n\nTERM\n\nA year.\n\nARTICLE II\n\nRENT\n\n2.1 Sum\n\nMuch.\n\n2.2 Day\n\nMay."
            ),
            ["THE LEASE!", " ARTICLE I", "  TERM", " ARTICLE II", "  RENT", "   2.1 Sum", "   2.2 Day"]
        );
    }

    #[test]
    fn speakers_are_no_headings() {
        assert_eq!(
            outline(
                "ACT I\n\nHAMLET\nTo be, or not to be, that is it.\n\nOPHELIA\nHow is he?\n\nHAMLET\nI humbly thank you; \
                 well, well.\n\nOPHELIA\nMy lord, I have remembrances of yours.\n\nGHOST\nI am thy father's spirit.\n\nOSRIC\nMy lord?\n\n\
                 ACT II\n\nGUARD\nHe is gone, and nobody saw him."
            ),
            ["ACT I", "ACT II"]
        );
        assert_eq!(
            outline("BEES\n\nWASPS\n\nANTS\n\nBEES\n\nThey fly.\n\nWASPS\n\nThey sting.\n\nANTS\n\nThey walk."),
            ["WASPS", "ANTS"]
        );
        // One of two times in a line that is too full for a heading.
        assert_eq!(outline("OSRIC\nWelcome back, my good lord.\n\nYes.\n\nOSRIC\nMy lord?\n\nSo it was."), [""; 0]);
    }

    #[test]
    fn nothing_gives_nothing() {
        for source in ["", " \n\t\n", "\u{2003}"] {
            let document = read_text("d", "plain", source, &ReadOptions::default()).unwrap();
            assert!(document.is_empty() && document.check() == Ok(()));
        }
        let mark = read_text("d", "plain", "\u{feff}\n", &ReadOptions::default()).unwrap();
        assert_eq!((mark.len(), mark.check()), (1, Ok(())));
    }
}
