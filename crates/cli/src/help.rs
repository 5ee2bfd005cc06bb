//! Help texts that fit the terminal.

use clap::Command;

/// The command with its paragraphs of help on one line each: they are broken by hand in the source, and would be broken twice where
/// the terminal is narrower.
pub fn flowing(command: Command) -> Command {
    let text = |help: Option<&clap::builder::StyledStr>| help.map(|help| joined(&help.to_string()));
    let (after, after_long) = (text(command.get_after_help()), text(command.get_after_long_help()));
    let long_about = text(command.get_long_about());
    let mut command = command.mut_subcommands(flowing);
    if let Some(after) = after {
        command = command.after_help(after);
    }
    if let Some(after) = after_long {
        command = command.after_long_help(after);
    }
    match long_about {
        Some(about) => command.long_about(about),
        None => command,
    }
}

/// Lines that go on from the one before are put behind it: those of a paragraph, but not examples and lists, which are indented or
/// have a mark.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut goes_on = false;
    for line in text.lines() {
        let is_prose = line.starts_with(char::is_alphanumeric) || line.starts_with(['`', '(', '"', '\'']);
        if is_prose && goes_on {
            out.push(' ');
        } else if !out.is_empty() || line.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
        goes_on = is_prose && !line.ends_with(':');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn paragraphs_are_one_line_and_examples_stay() {
        let text = "Examples:\n  pericope demo\n  pericope demo --out x\n\nCuts pages\nin five ways.\nAll of them.\n\n- one\n- two";
        let wanted = "Examples:\n  pericope demo\n  pericope demo --out x\n\nCuts pages in five ways. All of them.\n\n- one\n- two";
        assert_eq!(joined(text), wanted);
        assert_eq!(joined("One line."), "One line.");
    }
}
