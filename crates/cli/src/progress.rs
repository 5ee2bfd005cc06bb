//! Progress on standard error: bars on a terminal, nothing elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::name;

/// A bar of `total` steps; hidden where standard error is no terminal or `quiet` is set.
pub fn bar(total: u64, what: &str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(total);
    style(&bar, "{msg:<28} {bar:32} {pos}/{len} {eta:>4}", what, quiet);
    bar
}

/// A bar of `total` files, whose message says what came of them.
pub fn files(total: u64, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(total);
    style(&bar, "{bar:32} {pos}/{len} files, {msg} {eta:>4}", "", quiet);
    bar
}

/// A bar that counts bytes.
pub fn bytes(total: u64, what: &str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(total);
    style(&bar, "{msg:<28} {bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta:>4}", what, quiet);
    bar
}

/// A bar of `total` steps that shows how much is done, and a message that says all the rest.
pub fn work(total: u64, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(total);
    style(&bar, "{bar:32} {percent:>3} %  {msg}", "", quiet);
    bar
}

fn style(bar: &ProgressBar, template: &str, what: &str, quiet: bool) {
    if quiet || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        return;
    }
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(name(what).into_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
}
