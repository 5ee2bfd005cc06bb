//! What stands where in a segment file.
//!
//! | part | bytes |
//! | --- | --- |
//! | header | [`MAGIC`], dimension (4), 0 (4), rows (8) |
//! | ids | 16 a row, ascending, big-endian |
//! | bounds | 8 a row: the scale of the codes, and the length of what they leave out |
//! | codes | one a number |
//! | exact | a row: 4 a number, then 8 of checksum |
//! | footer | checksums of ids, bounds, codes and of the checksums of all rows, 8 each; the checksum of header and these |
//!
//! Numbers are little-endian but for the ids.

use super::disk::sum;

pub(super) const MAGIC: [u8; 8] = *b"PERIVEC1";
pub(super) const HEADER: usize = 24;
pub(super) const FOOTER: usize = 40;
pub(super) const ID: usize = 16;
pub(super) const BOUND: usize = 8;
pub(super) const ROW_SUM: usize = 8;
/// Vectors that are longer are of no encoder.
const MAX_DIMENSION: usize = 1 << 20;

/// The places of the parts of a segment of so many rows and dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub dimension: usize,
    pub rows: usize,
    pub bounds_at: u64,
    pub codes_at: u64,
    pub exact_at: u64,
    pub footer_at: u64,
}

impl Layout {
    /// Nothing where the file would be larger than any file.
    pub fn new(dimension: usize, rows: usize) -> Option<Self> {
        let part = |bytes: usize| (rows as u64).checked_mul(bytes as u64);
        if dimension == 0 || dimension > MAX_DIMENSION || u32::try_from(rows).is_err() {
            return None;
        }
        let bounds_at = (HEADER as u64).checked_add(part(ID)?)?;
        let codes_at = bounds_at.checked_add(part(BOUND)?)?;
        let exact_at = codes_at.checked_add(part(dimension)?)?;
        let footer_at = exact_at.checked_add(part(dimension * 4 + ROW_SUM)?)?;
        footer_at.checked_add(FOOTER as u64)?;
        Some(Self { dimension, rows, bounds_at, codes_at, exact_at, footer_at })
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.footer_at + FOOTER as u64
    }

    /// Bytes of a row's exact numbers with their checksum.
    pub fn exact_row(&self) -> usize {
        self.dimension * 4 + ROW_SUM
    }

    pub fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        let dimension = (self.dimension as u32).to_le_bytes();
        let bytes = MAGIC.into_iter().chain(dimension).chain([0; 4]).chain((self.rows as u64).to_le_bytes());
        header.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        header
    }

    /// The layout of the file that begins like this; nothing where it is no segment.
    pub fn of_header(header: &[u8; HEADER]) -> Option<Self> {
        let (magic, rest) = header.split_first_chunk::<8>()?;
        let (dimension, rest) = rest.split_first_chunk::<4>()?;
        let (_, rows) = rest.split_first_chunk::<4>()?;
        if *magic != MAGIC {
            return None;
        }
        let rows = u64::from_le_bytes(*rows.first_chunk::<8>()?);
        let layout = Self::new(u32::from_le_bytes(*dimension) as usize, usize::try_from(rows).ok()?)?;
        (layout.header() == *header).then_some(layout)
    }
}

/// The checksums of the parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub ids: u64,
    pub bounds: u64,
    pub codes: u64,
    /// Of the rows' own checksums.
    pub exact: u64,
}

impl Sums {
    /// The checksum of everything.
    pub fn whole(&self, layout: &Layout) -> u64 {
        let parts = [self.ids, self.bounds, self.codes, self.exact].into_iter().flat_map(u64::to_le_bytes);
        sum(&layout.header().into_iter().chain(parts).collect::<Vec<u8>>())
    }

    pub fn footer(&self, layout: &Layout) -> [u8; FOOTER] {
        let all = [self.ids, self.bounds, self.codes, self.exact, self.whole(layout)];
        let mut footer = [0; FOOTER];
        footer.iter_mut().zip(all.into_iter().flat_map(u64::to_le_bytes)).for_each(|(to, from)| *to = from);
        footer
    }

    /// Nothing where the footer does not fit itself and the header.
    pub fn of_footer(footer: &[u8; FOOTER], layout: &Layout) -> Option<Self> {
        let numbers: Vec<u64> = footer.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let [ids, bounds, codes, exact, whole] = numbers.try_into().ok()?;
        let sums = Self { ids, bounds, codes, exact };
        (sums.whole(layout) == whole).then_some(sums)
    }
}
