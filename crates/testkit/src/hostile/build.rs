//! Pieces that documents are put together from.

/// Returns `unit` as often as fits into `bytes`, once at least.
pub(super) fn fill(unit: &str, bytes: usize) -> String {
    unit.repeat((bytes / unit.len().max(1)).max(1))
}

/// Returns pieces, made from the numbers 0, 1, 2 and so on, until they are `bytes` long together.
pub(super) fn count(bytes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut made = String::new();
    for number in 0.. {
        made.push_str(&piece(number));
        if made.len() >= bytes {
            break;
        }
    }
    made
}

/// Returns a staircase: line number `i` is indented by `step` times `i` columns, up to `bytes` in all.
pub(super) fn stairs(step: usize, line: &str, bytes: usize) -> String {
    count(bytes, |i| format!("{}{line}", " ".repeat(step * i)))
}
