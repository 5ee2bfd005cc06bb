//! The text of the pages, whatever the parser makes of the file.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pdf_extract::{Document, MediaBox, OutputDev, OutputError, Transform};

use super::bidi::{is_rtl, is_rtl_letter, read_order};
use super::layout::{Line, Page};
use super::missing::Missing;
use super::{fonts, forms, widths};

/// The reason why there is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It opens with a password only.
    Encrypted,
    /// It is no PDF, or one that the parser cannot cope with.
    Broken(String),
}

/// What was found in a file.
#[derive(Debug)]
pub(super) struct Found {
    /// The lines of each page, in order.
    pub(super) pages: Vec<Page>,
    /// What could not be read, in words.
    pub(super) missing: Option<String>,
}

/// Most text that is taken from a file, in bytes; what is beyond it is left out.
const MOST_TEXT: usize = 256 << 20;
/// Pages that may fail before the rest are given up.
const MOST_FAILURES: usize = 100;
/// The parser goes as deep as the file does.
const STACK: usize = 64 << 20;
const THREAD: &str = "pericope-pdf";

/// The lines of each page; of pages that the parser cannot cope with, those before it gave up.
///
/// # Errors
/// [`Failure`]; never a panic, of which the parser has many. But the parser can abort the process by a stack that
/// overflows, and take any time and memory: only a process of its own holds that.
pub(super) fn pages(bytes: Vec<u8>) -> Result<Found, Failure> {
    quiet();
    let run = std::thread::Builder::new().name(THREAD.into()).stack_size(STACK).spawn(move || parse(&bytes));
    match run.map(std::thread::JoinHandle::join) {
        Ok(Ok(pages)) => pages,
        Ok(Err(_)) => Err(Failure::Broken("the parser gave up".into())),
        Err(error) => Err(Failure::Broken(error.to_string())),
    }
}

fn parse(bytes: &[u8]) -> Result<Found, Failure> {
    let mut document = Document::load_mem(without_padding(bytes)).map_err(|error| match error {
        pdf_extract::Error::Decryption(_) | pdf_extract::Error::InvalidPassword => Failure::Encrypted,
        error => Failure::Broken(error.to_string()),
    })?;
    // Many can be opened with no password, and are encrypted only so that they are not printed.
    let locked = document.is_encrypted();
    if locked && document.decrypt("").is_err() {
        return Err(Failure::Encrypted);
    }
    forms::defuse(&mut document).map_err(Failure::Broken)?;
    let unknown = fonts::mend(&mut document);
    widths::write_out(&mut document);
    let numbers: Vec<u32> = document.get_pages().keys().copied().collect();
    if numbers.is_empty() {
        // Without its password even the catalogue may be out of reach.
        return Err(if locked { Failure::Encrypted } else { Failure::Broken("it has no pages".into()) });
    }
    let mut pages = Pages::default();
    let mut missing = read(&document, &numbers, &mut pages);
    pages.line_ends();
    // Text of other fonts may have no letters either, but where all are known nothing is lost that anybody could have read.
    if !unknown.is_empty() {
        let why = fonts::why(&unknown);
        pages.without_letters.iter().for_each(|&page| missing.add(page, &why));
    }
    let mut lines = pages.pages.iter().flat_map(|page| &page.lines);
    let found = lines.any(|line| !line.text.trim().is_empty());
    match missing.reasons() {
        Some(reasons) if !found => Err(Failure::Broken(reasons)),
        _ => Ok(Found { missing: missing.words(numbers.len()), pages: pages.pages }),
    }
}

/// Programs that write in blocks fill the last one up, and the parser looks for the end of a file near its last byte.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b != 0 && !b.is_ascii_whitespace()).map_or(0, |last| last + 1);
    // One line end stays: it may belong to what is before it.
    bytes.get(..bytes.len().min(end + 1)).unwrap_or(bytes)
}

/// Reads the pages of these numbers.
fn read(document: &Document, numbers: &[u32], pages: &mut Pages) -> Missing {
    let mut missing = Missing::default();
    // All at once is much faster; after a page that fails, the rest come one by one.
    let all = catch_unwind(AssertUnwindSafe(|| pdf_extract::output_doc(document, pages)));
    if matches!(all, Ok(Ok(()))) {
        return missing;
    }
    let mut failures = 0;
    let mut done = numbers.iter().position(|&number| number == pages.last).map_or(0, |at| at + 1);
    if pages.is_open {
        failures += 1;
        missing.add(pages.last, &why(all));
    }
    // What failed is one of those that come, where it was none that had begun.
    while let Some(&number) = numbers.get(done) {
        done += 1;
        if pages.bytes > MOST_TEXT {
            missing.add(number, "there is too much text in the file");
        } else if failures > MOST_FAILURES {
            missing.add(number, "too many pages before it failed");
        } else {
            let one = catch_unwind(AssertUnwindSafe(|| pdf_extract::output_doc_page(document, pages, number)));
            if !matches!(one, Ok(Ok(()))) {
                failures += 1;
                missing.add(number, &why(one));
            }
        }
    }
    missing
}

fn why(result: Result<Result<(), OutputError>, Box<dyn std::any::Any + Send>>) -> String {
    match result {
        Ok(Err(OutputError::FormatError(_))) => "there is too much text in the file".into(),
        Ok(Err(error)) => error.to_string(),
        _ => "the parser gave up".into(),
    }
}

/// Collects the lines of each page.
#[derive(Default)]
struct Pages {
    pages: Vec<Page>,
    /// Number of the page that was begun last.
    last: u32,
    /// Height of that page.
    height: f64,
    /// That page has not ended.
    is_open: bool,
    /// Pages with text that has no letters: its font does not say which.
    without_letters: BTreeSet<u32>,
    /// Bytes of text so far.
    bytes: usize,
    /// A string of the file begins: only here are gaps blanks, for within it they are kerning.
    string_begins: bool,
    /// Where the last character ended, and its distance from the top.
    end: (f64, f64),
    /// Where the last letter of the line began that belongs to a script from right to left.
    rtl: Option<f64>,
    /// Letters of such scripts that stand to the right of the one before, less those that stand to the left.
    ltr: i64,
    /// The bytes at which the glyphs of the line begin, and the blanks between them.
    starts: Vec<usize>,
}

impl Pages {
    /// The letters of the last line, which is over, come into the order in which they are read.
    fn line_ends(&mut self) {
        let visual_order = std::mem::take(&mut self.ltr) > 0;
        let starts = std::mem::take(&mut self.starts);
        self.rtl = None;
        if let Some(line) = self.pages.last_mut().and_then(|page| page.lines.last_mut())
            && line.text.contains(is_rtl)
        {
            line.text = read_order(&line.text, &starts, visual_order);
        }
    }
}

impl OutputDev for Pages {
    fn begin_page(&mut self, page: u32, media: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        self.last = page;
        self.height = media.ury - media.lly;
        self.line_ends();
        self.is_open = true;
        self.pages.push(Page { number: page, lines: Vec::new() });
        self.end = (f64::INFINITY, f64::NEG_INFINITY);
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.is_open = false;
        Ok(())
    }

    fn output_character(
        &mut self,
        at: &Transform,
        width: f64,
        _spacing: f64,
        font_size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        self.bytes += text.len();
        if self.bytes > MOST_TEXT {
            return Err(OutputError::FormatError(std::fmt::Error));
        }
        if text.is_empty() {
            self.without_letters.insert(self.last);
        }
        let size = font_size * (at.m11 * at.m22 - at.m12 * at.m21).abs().sqrt();
        let (x, y) = (at.m31, self.height - at.m32);
        let down = (y - self.end.1).abs();
        let new_line = down > size * 0.8 || (x < self.end.0 && down > size * 0.5);
        let is_first = self.pages.last().is_none_or(|page| page.lines.is_empty());
        let begins = is_first || (self.string_begins && new_line);
        if begins {
            self.line_ends();
        }
        let Some(page) = self.pages.last_mut() else { return Ok(()) };
        if begins {
            page.lines.push(Line { text: String::new(), gap: y - self.end.1, top: y, size });
        } else if self.string_begins
            && x > self.end.0 + size * 0.1
            && let Some(line) = page.lines.last_mut()
        {
            self.starts.push(line.text.len());
            line.text.push(' ');
        }
        if let Some(line) = page.lines.last_mut() {
            self.starts.push(line.text.len());
            line.text.push_str(text);
        }
        // Marks stand where their letters do, or beside them.
        if text.contains(is_rtl_letter) {
            let before = self.rtl.replace(x);
            self.ltr += before.map_or(0, |before| i64::from(x > before) - i64::from(x < before));
        }
        self.string_begins = false;
        self.end = (x + width * size, y);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.string_begins = true;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

/// Panics in our own thread are answers, not accidents: the hook that prints them passes them over.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some(THREAD) {
                before(info);
            }
        }));
    });
}
