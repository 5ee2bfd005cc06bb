//! The text of the pages, whatever the parser makes of the file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pdf_extract::{Document, MediaBox, OutputDev, OutputError, Transform};

use super::forms;
use super::layout::{Line, Page};

/// The reason why there is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It opens with a password only.
    Encrypted,
    /// It is no PDF, or one that the parser cannot cope with.
    Broken(String),
}

/// Most text that is taken from a file, in bytes; what is beyond it is left out.
const MOST_TEXT: usize = 256 << 20;
/// Pages that may fail before the rest are given up.
const MOST_FAILURES: usize = 100;
/// The parser goes as deep as the file does.
const STACK: usize = 64 << 20;
const THREAD: &str = "pericope-pdf";

/// The lines of each page, in order; pages that the parser cannot cope with are empty.
///
/// # Errors
/// [`Failure`]; never a panic, of which the parser has many. But the parser can abort the process by a stack that
/// overflows, and take any time and memory: only a process of its own holds that.
pub(super) fn pages(bytes: Vec<u8>) -> Result<Vec<Page>, Failure> {
    quiet();
    let run = std::thread::Builder::new().name(THREAD.into()).stack_size(STACK).spawn(move || parse(&bytes));
    match run.map(std::thread::JoinHandle::join) {
        Ok(Ok(pages)) => pages,
        Ok(Err(_)) => Err(Failure::Broken("the parser gave up".into())),
        Err(error) => Err(Failure::Broken(error.to_string())),
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<Page>, Failure> {
    let mut document = Document::load_mem(bytes).map_err(|error| match error {
        pdf_extract::Error::Decryption(_) | pdf_extract::Error::InvalidPassword => Failure::Encrypted,
        error => Failure::Broken(error.to_string()),
    })?;
    // Many can be opened with no password, and are encrypted only so that they are not printed.
    let locked = document.is_encrypted();
    if locked && document.decrypt("").is_err() {
        return Err(Failure::Encrypted);
    }
    forms::defuse(&mut document).map_err(Failure::Broken)?;
    let numbers: Vec<u32> = document.get_pages().keys().copied().collect();
    if numbers.is_empty() {
        // Without its password even the catalogue may be out of reach.
        return Err(if locked { Failure::Encrypted } else { Failure::Broken("it has no pages".into()) });
    }
    let mut pages = Pages::default();
    let mut message = None;
    // All at once is much faster; after a page that fails, the rest come one by one.
    let all = catch_unwind(AssertUnwindSafe(|| pdf_extract::output_doc(&document, &mut pages)));
    if !matches!(all, Ok(Ok(()))) {
        let mut failures = 1;
        message = Some(why(all));
        let done = numbers.iter().position(|&number| number == pages.last).map_or(0, |at| at + 1);
        for &number in numbers.iter().skip(done) {
            let one = catch_unwind(AssertUnwindSafe(|| pdf_extract::output_doc_page(&document, &mut pages, number)));
            if !matches!(one, Ok(Ok(()))) {
                failures += 1;
                message = Some(why(one));
            }
            if failures > MOST_FAILURES || pages.bytes > MOST_TEXT {
                break;
            }
        }
    }
    let found = pages.pages.iter().any(|page| !page.lines.is_empty());
    match message {
        Some(message) if !found => Err(Failure::Broken(message)),
        _ => Ok(pages.pages),
    }
}

fn why(result: Result<Result<(), OutputError>, Box<dyn std::any::Any + Send>>) -> String {
    match result {
        Ok(Err(error)) => error.to_string(),
        _ => "the parser gave up on a page".into(),
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
    /// Bytes of text so far.
    bytes: usize,
    /// A string of the file begins: only here are gaps blanks, for within it they are kerning.
    string_begins: bool,
    /// Where the last character ended, and its distance from the top.
    end: (f64, f64),
}

impl OutputDev for Pages {
    fn begin_page(&mut self, page: u32, media: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        self.last = page;
        self.height = media.ury - media.lly;
        self.pages.push(Page::default());
        self.end = (f64::INFINITY, f64::NEG_INFINITY);
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
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
        let Some(page) = self.pages.last_mut() else { return Ok(()) };
        let size = font_size * (at.m11 * at.m22 - at.m12 * at.m21).abs().sqrt();
        let (x, y) = (at.m31, self.height - at.m32);
        let down = (y - self.end.1).abs();
        let new_line = down > size * 0.8 || (x < self.end.0 && down > size * 0.5);
        if page.lines.is_empty() || (self.string_begins && new_line) {
            page.lines.push(Line { text: String::new(), gap: y - self.end.1, size });
        } else if self.string_begins
            && x > self.end.0 + size * 0.1
            && let Some(line) = page.lines.last_mut()
        {
            line.text.push(' ');
        }
        if let Some(line) = page.lines.last_mut() {
            line.text.push_str(text);
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
