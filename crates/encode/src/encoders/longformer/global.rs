use candle_core::{Result, Tensor};

use crate::encoders::layers::{hidden, join, softmax};

/// The tokens of a batch that attend to all and that all attend to. Sequences with fewer than others have theirs filled
/// up with their first token, which [`present`](Self::present) leaves out again.
pub(super) struct Globals {
    /// Rows of `[sequences * length]`, `[sequences * most]`.
    index: Tensor,
    /// 1 for a global token and 0 where there is none, `[sequences, most]`.
    pub present: Tensor,
    /// 1 for a global token and 0 for others, `[sequences, length]`.
    pub mask: Tensor,
}

impl Globals {
    /// `None` where no sequence has any. `mask` is that of padding, `[sequences, length]`.
    pub fn new(globals: &[&[usize]], mask: &Tensor) -> Result<Option<Self>> {
        let (count, length) = mask.dims2()?;
        if globals.len() != count {
            candle_core::bail!("global tokens of {} sequences for {count}", globals.len());
        }
        let mut lists: Vec<Vec<usize>> = globals.iter().map(|places| places.to_vec()).collect();
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        let most = lists.iter().map(Vec::len).max().unwrap_or(0);
        if most == 0 {
            return Ok(None);
        }
        let (mut index, mut present, mut marks) = (Vec::new(), Vec::new(), vec![0.0f32; count * length]);
        for (i, list) in lists.iter().enumerate() {
            for &place in list {
                let row = i * length + place;
                match marks.get_mut(row) {
                    Some(mark) if place < length => *mark = 1.0,
                    _ => candle_core::bail!("there is no token {place} to be global in {length}"),
                }
                index.push(row as u32);
            }
            present.resize(index.len(), 1.0f32);
            index.resize((i + 1) * most, (i * length) as u32);
            present.resize((i + 1) * most, 0.0);
        }
        let device = mask.device();
        Ok(Some(Self {
            index: Tensor::from_vec(index, count * most, device)?,
            present: Tensor::from_vec(present, (count, most), device)?,
            mask: Tensor::from_vec(marks, (count, length), device)?,
        }))
    }

    /// The global tokens' rows of `[sequences, length, size]`: `[sequences, most, size]`.
    pub fn select(&self, x: &Tensor) -> Result<Tensor> {
        let (count, most) = self.present.dims2()?;
        x.flatten_to(1)?.index_select(&self.index, 0)?.reshape((count, most, ()))
    }

    /// Puts `rows`, `[sequences, most, size]`, in the places of the global tokens of `x`, `[sequences, length, size]`.
    pub fn replace(&self, x: &Tensor, rows: &Tensor) -> Result<Tensor> {
        let others = x.broadcast_mul(&self.mask.affine(-1.0, 1.0)?.unsqueeze(2)?)?;
        let rows = rows.broadcast_mul(&self.present.unsqueeze(2)?)?.flatten_to(1)?;
        others.flatten_to(1)?.index_add(&self.index, &rows, 0)?.reshape(x.shape())
    }
}

/// The context of global tokens, `[sequences, global, hidden]`: scaled queries `[sequences, heads, global, head]`, keys and
/// values `[sequences, heads, length, head]`, the mask of padding `[sequences, length]`.
pub(super) fn attend(query: &Tensor, key: &Tensor, value: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let (count, length) = mask.dims2()?;
    let hidden = hidden(mask)?.reshape((count, 1, 1, length))?;
    join(&softmax(&query.matmul(&key.t()?)?.broadcast_add(&hidden)?)?.matmul(value)?)
}
