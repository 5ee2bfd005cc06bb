//! AMX, the processor's tiles of 16 rows of 64 bytes: all `unsafe` of the product by tiles is here.
//!
//! The standard library has no stable functions for these instructions, so they are inline assembly. One product of tiles takes 16 rows
//! of 16 pairs and 16 pairs of 16 columns, the columns of a [`Line`]; weights lie as [`Layout::Tiles`] says.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::ops::Range;
use std::sync::OnceLock;

use super::weights::{Layout, Line, SIDE, Weights};

/// Bytes of a row of a tile.
const ROW: u16 = 64;

/// True where the processor multiplies tiles of bfloat16, and the system lets this process use them.
pub(crate) fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| !cfg!(miri) && super::x86::available() && supported() && permitted())
}

/// What the processor says of itself: `AMX-BF16` and `AMX-TILE`.
fn supported() -> bool {
    const BF16: u32 = 1 << 22;
    const TILE: u32 = 1 << 24;
    __cpuid(0).eax >= 7 && {
        let edx = __cpuid_count(7, 0).edx;
        edx & BF16 != 0 && edx & TILE != 0
    }
}

/// Asks the kernel for the tiles, as each process must once: they make its threads' saved state some 8 kB larger.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const XTILEDATA: i64 = 18;
    let answer: i64;
    // SAFETY: this call only changes what the process may use; it writes no memory, and changes no register but these.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

/// What `ldtilecfg` reads.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

impl Shapes {
    /// Tiles 0, 1 and 4 (sums and input of the first block) of `first` rows; 2, 3 and 5 of `second`; 6 and 7 hold weights.
    fn new(first: usize, second: usize) -> Self {
        let mut shapes = Self { palette: 1, start: 0, reserved: [0; 14], bytes: [0; 16], rows: [0; 16] };
        for (tile, rows) in [first, first, second, second, first, second, SIDE, SIDE].into_iter().enumerate() {
            // A tile that is not used needs a shape, too.
            (shapes.bytes[tile], shapes.rows[tile]) = (ROW, rows.clamp(1, SIDE) as u8);
        }
        shapes
    }
}

/// Rows are taken by blocks of two tiles, and for each all strips of weights one after the other: a block of rows stays in the
/// first-level cache where it fits (some 700 inputs), weights stream through it, and the sums of a block are whole rows that lie together.
///
/// # Safety
/// Tiles must be [`available`], and weights lie in them; `x` and `out` hold just `rows` rows; `columns` be whole strips of the weights.
pub(crate) unsafe fn product(rows: usize, x: &[u32], weights: &Weights, columns: Range<usize>, out: &mut [f32]) {
    debug_assert!(weights.layout() == Layout::Tiles && columns.start.is_multiple_of(2 * SIDE));
    debug_assert!(columns.end.is_multiple_of(2 * SIDE) || columns.end == weights.outputs());
    debug_assert!(x.len() == rows * weights.pairs() && out.len() == rows * columns.len());
    let strips = columns.start / SIDE..columns.end / SIDE;
    let whole = rows / (2 * SIDE) * 2 * SIDE;
    for (from, to, step) in [(0, whole, 2 * SIDE), (whole, rows, rows - whole)] {
        if from == to {
            continue;
        }
        let shapes = Shapes::new(step.min(SIDE), step.saturating_sub(SIDE));
        // SAFETY: the configuration is of 64 bytes and names shapes that palette 1 has; the tiles hold nothing that is needed.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, readonly)) };
        for row in (from..to).step_by(step) {
            for column in strips.clone().step_by(2) {
                let block = Block { x, out: &mut *out, weights, row, column, columns: columns.clone() };
                // SAFETY: the shapes are those of `step` rows, which are within `x` and `out`; `column` is the first tile of a strip,
                // and where two are asked for the strip has two.
                unsafe {
                    match (step > SIDE, column + 1 < strips.end) {
                        (true, true) => block.two_by_two(),
                        (true, false) => block.two_by_one(),
                        (false, true) => block.one_by_two(),
                        (false, false) => block.one_by_one(),
                    }
                }
            }
        }
    }
    // SAFETY: gives the tiles back to their first state, in which threads have no more to save.
    unsafe { asm!("tilerelease", options(nostack, nomem)) };
}

/// Where a block of tiles of sums begins.
struct Block<'a> {
    x: &'a [u32],
    out: &'a mut [f32],
    weights: &'a Weights,
    row: usize,
    /// In tiles.
    column: usize,
    /// The columns of `out`.
    columns: Range<usize>,
}

/// Where the tiles of a block lie in memory: addresses, and bytes from a row to the next.
struct Places {
    inputs: [*const u32; 2],
    input_stride: usize,
    weights: *const Line,
    out: [*mut f32; 2],
    out_stride: usize,
    steps: usize,
}

impl Block<'_> {
    fn places(self) -> Places {
        let (pairs, outputs) = (self.weights.pairs(), self.columns.len());
        // Second addresses that are not used may be beyond the end: they are never read.
        let input = self.x.as_ptr().wrapping_add(self.row * pairs);
        let out = self.out.as_mut_ptr().wrapping_add(self.row * outputs + self.column * SIDE - self.columns.start);
        Places {
            inputs: [input, input.wrapping_add(SIDE * pairs)],
            input_stride: pairs * size_of::<u32>(),
            weights: self.weights.strip(self.column),
            out: [out, out.wrapping_add(SIDE * outputs)],
            out_stride: outputs * size_of::<f32>(),
            steps: pairs / SIDE,
        }
    }
}

/// Blocks of one or two tiles of rows and columns. Each loaded tile of a block of four is used for two products. Weights are loaded with
/// the hint that they are not used again soon (`tileloaddt1`): the rows stay in the first-level cache beside them.
macro_rules! block {
    ($name:ident, $columns:literal: $($zero:literal)+; $($step:literal)+; $($store:literal)+) => {
        impl Block<'_> {
            /// # Safety
            /// Tiles must be configured for the rows of this block, and rows and columns lie within the matrices.
            unsafe fn $name(self) {
                let places = self.places();
                // SAFETY: tiles are loaded from `steps` times 16 pairs of each row, and as many lines of weights for each column of
                // tiles, and stored to the rows and columns of the block.
                unsafe {
                    asm!(
                        $($zero,)+
                        "2:",
                        $($step,)+
                        "add {x0}, 64",
                        "add {x1}, 64",
                        "add {w}, {weight_step}",
                        "dec {steps}",
                        "jnz 2b",
                        $($store,)+
                        // Every operand has to be named; blocks of one row or column of tiles do not use these.
                        "/* {o1} {second} */",
                        x0 = inout(reg) places.inputs[0] => _,
                        x1 = inout(reg) places.inputs[1] => _,
                        xs = in(reg) places.input_stride,
                        w = inout(reg) places.weights => _,
                        ws = in(reg) size_of::<Line>(),
                        second = const SIDE * size_of::<Line>(),
                        weight_step = const $columns * SIDE * size_of::<Line>(),
                        steps = inout(reg) places.steps => _,
                        o0 = in(reg) places.out[0],
                        o1 = in(reg) places.out[1],
                        os = in(reg) places.out_stride,
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                }
            }
        }
    };
}

block!(two_by_two, 2:
    "tilezero tmm0" "tilezero tmm1" "tilezero tmm2" "tilezero tmm3";
    "tileloadd tmm4, [{x0} + {xs}*1]"
    "tileloaddt1 tmm6, [{w} + {ws}*1]"
    "tdpbf16ps tmm0, tmm4, tmm6"
    "tileloaddt1 tmm7, [{w} + {ws}*1 + {second}]"
    "tdpbf16ps tmm1, tmm4, tmm7"
    "tileloadd tmm5, [{x1} + {xs}*1]"
    "tdpbf16ps tmm2, tmm5, tmm6"
    "tdpbf16ps tmm3, tmm5, tmm7";
    "tilestored [{o0} + {os}*1], tmm0"
    "tilestored [{o0} + {os}*1 + 64], tmm1"
    "tilestored [{o1} + {os}*1], tmm2"
    "tilestored [{o1} + {os}*1 + 64], tmm3");

block!(two_by_one, 1:
    "tilezero tmm0" "tilezero tmm2";
    "tileloadd tmm4, [{x0} + {xs}*1]"
    "tileloaddt1 tmm6, [{w} + {ws}*1]"
    "tdpbf16ps tmm0, tmm4, tmm6"
    "tileloadd tmm5, [{x1} + {xs}*1]"
    "tdpbf16ps tmm2, tmm5, tmm6";
    "tilestored [{o0} + {os}*1], tmm0"
    "tilestored [{o1} + {os}*1], tmm2");

block!(one_by_two, 2:
    "tilezero tmm0" "tilezero tmm1";
    "tileloadd tmm4, [{x0} + {xs}*1]"
    "tileloaddt1 tmm6, [{w} + {ws}*1]"
    "tdpbf16ps tmm0, tmm4, tmm6"
    "tileloaddt1 tmm7, [{w} + {ws}*1 + {second}]"
    "tdpbf16ps tmm1, tmm4, tmm7";
    "tilestored [{o0} + {os}*1], tmm0"
    "tilestored [{o0} + {os}*1 + 64], tmm1");

block!(one_by_one, 1:
    "tilezero tmm0";
    "tileloadd tmm4, [{x0} + {xs}*1]"
    "tileloaddt1 tmm6, [{w} + {ws}*1]"
    "tdpbf16ps tmm0, tmm4, tmm6";
    "tilestored [{o0} + {os}*1], tmm0");
