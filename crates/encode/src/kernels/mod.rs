//! The arithmetic of the CPU path: matrix products with packed weights, softmax, GELU, layer norm, attention, and the gradients of these.
//!
//! Everything is written once over [`pulp::Simd`] and dispatched at run time to AVX-512, AVX2 + FMA, NEON or plain code,
//! so a program built for any x86-64 uses what the machine has. No `unsafe` is needed: vectors come from checked slices,
//! and the inner loops run over fixed-size arrays. Where the processor multiplies in bfloat16, the crate `pericope-bf16` does the products; with AVX2 alone
//! they are done in whole numbers of 16 bits.
//!
//! The matrix product is our own for a reason: the weights seldom change, so they are packed once, at load (in training once a step), and the bias, GELU and
//! residual are added while a tile is still in registers (with factors of 16 bits, in cache). `cargo bench -p pericope-encode` compares it with the `gemm`
//! crate on the shapes of MiniLM.

mod aligned;
mod attention;
mod attention_gradient;
mod gate;
mod int16;
mod linear;
mod math;
mod norm;
mod outer;
mod precision;
mod rotation;
mod rows;
#[cfg(test)]
mod testing;

pub use aligned::Aligned;
pub use attention::{AttendScratch, Attention, Distances, Reach, attend};
pub use attention_gradient::{AttendGradientScratch, attend_gradient};
pub use gate::{Gate, gated};
pub use linear::{Finish, Linear, feed_forward};
pub use math::{exp, gelu_all, gelu_gradient};
pub use norm::{layer_norm, layer_norm_gradient, mean_pool, rms_norm};
pub use outer::{OUTER_COLUMNS, outer_sums};
pub use precision::Precision;
pub use rotation::{Angles, turn};
pub use rows::{ROW_TILE, padded_rows};
