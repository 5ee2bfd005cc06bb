//! All that the command writes. What steers a terminal is shown as text, wherever it comes from: documents, names,
//! servers.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use pericope_util::{visible, visible_json, visible_line};

/// Prints a line on standard output. What cannot be written ends the function with an error, never the process.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::terminal::Line::text(format_args!($($part)*)).say()?
    };
}

/// Prints a line on standard error. It may hold line breaks of its own.
macro_rules! tell {
    ($($part:tt)*) => {
        $crate::terminal::Line::text(format_args!($($part)*)).tell()
    };
}

/// Whether `--quiet` was given: readers of files have notes wherever they are called from.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Says whether `--quiet` was given.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// True where notes stay unsaid.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// How a part of a line looks on a terminal.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    Bold,
    Soft,
    /// A heading over hits.
    Title,
    /// A word that was looked for, a place that was cut.
    Mark,
    /// Every other chunk of a document, and those between.
    Even,
    Odd,
    Warning,
    Error,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Soft => "2",
            Self::Title => "1;4",
            Self::Mark => "1;33",
            Self::Even => "36",
            Self::Odd => "35",
            Self::Warning => "33",
            Self::Error => "1;31",
        }
    }
}

/// A line that is being written: its styles are ours, and nothing else in it steers the terminal.
#[derive(Debug, Default)]
#[must_use]
pub struct Line {
    /// With ANSI sequences; `anstream` strips them where the output is no terminal.
    out: String,
}

impl Line {
    /// Text that may hold line breaks.
    pub fn text(text: impl Display) -> Self {
        Self::default().and(text)
    }

    /// Text in a style.
    pub fn styled(style: Style, text: impl Display) -> Self {
        Self::default().and_styled(style, text)
    }

    /// More text.
    pub fn and(mut self, text: impl Display) -> Self {
        self.out.push_str(&visible(&text.to_string()));
        self
    }

    /// More text, in a style.
    pub fn and_styled(mut self, style: Style, text: impl Display) -> Self {
        let text = text.to_string();
        if !text.is_empty() {
            self.out.push_str(&format!("\u{1b}[{}m{}\u{1b}[0m", style.code(), visible(&text)));
        }
        self
    }

    /// Another line, as it is.
    pub fn and_line(mut self, line: &Line) -> Self {
        self.out.push_str(&line.out);
        self
    }

    /// The same with so many blanks before each line of it, and without blank lines at its end.
    pub fn indented(self, blanks: usize) -> Self {
        let lines = self.out.lines().map(|line| format!("{:blanks$}{line}", ""));
        Self { out: lines.collect::<Vec<_>>().join("\n") }
    }

    /// The same on one line, with single blanks.
    pub fn on_one_line(self) -> Self {
        Self { out: self.out.split_whitespace().collect::<Vec<_>>().join(" ") }
    }

    /// Prints it on standard output.
    ///
    /// # Errors
    /// Where standard output cannot be written.
    pub fn say(mut self) -> io::Result<()> {
        self.out.push('\n');
        anstream::stdout().write_all(self.out.as_bytes()).map_err(unwritten)
    }

    /// Prints it on standard error, if that can be written.
    pub fn tell(mut self) {
        self.out.push('\n');
        let _ = anstream::stderr().write_all(self.out.as_bytes());
    }
}

/// `1 file`, `2 files`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A name, or another text from outside, that is to stay on its line.
pub fn name(text: &str) -> Cow<'_, str> {
    visible_line(text)
}

/// Columns of a line on standard output, 40 to 120: the terminal's; elsewhere those of the variable `COLUMNS`, else 100.
pub fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.filter(|&width| width > 0).or_else(told).unwrap_or(100).clamp(40, 120)
}

/// Says what could not be written: the system names no file.
pub fn unwritten(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// Standard output for documents and JSON: as they are for other programs, without what steers a terminal on a terminal.
pub struct Output<W> {
    out: W,
    terminal: bool,
}

impl Output<BufWriter<StdoutLock<'static>>> {
    /// Standard output, in larger pieces than lines.
    pub fn standard() -> Self {
        Self { out: BufWriter::new(io::stdout().lock()), terminal: io::stdout().is_terminal() }
    }
}

impl<W: Write> Output<W> {
    /// Writes a part of a document, and a line break.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn document(&mut self, text: &str) -> io::Result<()> {
        let text = if self.terminal { visible(text) } else { Cow::Borrowed(text) };
        self.write(&text)?;
        self.write("\n")
    }

    /// Writes a line of ours.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn line(&mut self, line: Line) -> io::Result<()> {
        let line = line.out + "\n";
        match self.terminal {
            true => self.write(&line),
            false => self.write(&anstream::adapter::strip_str(&line).to_string()),
        }
    }

    /// Writes JSON.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn json(&mut self, json: &str) -> io::Result<()> {
        let json = if self.terminal { visible_json(json) } else { Cow::Borrowed(json) };
        self.write(&json)
    }

    /// Writes what steers no terminal: a page of ours.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn raw(&mut self, text: &str) -> io::Result<()> {
        self.write(text)
    }

    /// Lets everything out.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(unwritten)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes()).map_err(unwritten)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HOSTILE: &str = "foxes \u{1b}]0;PWNED\u{7} \u{9b}2J \u{202e}dne";

    fn output(terminal: bool, write: impl Fn(&mut Output<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut Output { out: &mut bytes, terminal }).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_our_styles_reach_a_terminal() {
        let line = Line::styled(Style::Error, "error:").and(format_args!(" {HOSTILE}"));
        assert_eq!(line.out, "\u{1b}[1;31merror:\u{1b}[0m foxes \\u{1b}]0;PWNED\\u{7} \\u{9b}2J \\u{202e}dne");
        let styled = Line::styled(Style::Mark, "\u{1b}[8mhidden");
        assert_eq!(styled.out, "\u{1b}[1;33m\\u{1b}[8mhidden\u{1b}[0m");
        assert_eq!(name("a\nerror: b"), "a\\nerror: b");
        assert_eq!((counted(1, "token"), counted(2, "token")), ("1 token".to_owned(), "2 tokens".to_owned()));
    }

    #[test]
    fn documents_are_as_they_are_for_programs_alone() {
        let text = format!("{HOSTILE}\r\n\tend");
        assert_eq!(output(false, |out| out.document(&text)), text.clone() + "\n");
        let shown = output(true, |out| out.document(&text));
        assert_eq!(shown, "foxes \\u{1b}]0;PWNED\\u{7} \\u{9b}2J \\u{202e}dne\r\n\tend\n");
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(output(false, |out| out.json(&json)), json);
        let shown = output(true, |out| out.json(&json));
        assert!(!shown.chars().any(pericope_util::is_steering), "{shown:?}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert_eq!(output(false, |out| out.line(Line::styled(Style::Soft, "── a"))), "── a\n");
    }
}
