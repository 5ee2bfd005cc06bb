/// Rows that one step of a kernel works on; buffers hold a multiple of this, plus one more such block, so that no
/// kernel needs a special case for the last rows.
pub const ROW_TILE: usize = 8;

/// Rows that a buffer for `rows` rows must have.
#[must_use]
pub fn padded_rows(rows: usize) -> usize {
    rows.next_multiple_of(ROW_TILE) + ROW_TILE
}
