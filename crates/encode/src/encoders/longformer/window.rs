use candle_core::{D, Result, Tensor};

use crate::encoders::layers::{HIDDEN, hidden, softmax};

/// Attention of every token to those at most `reach` away.
///
/// The sequence is cut into blocks of `reach` queries. Their keys are in the block itself and in those before and behind
/// it, three times as many; a mask leaves of them the band that is near enough.
pub(super) struct Window {
    reach: usize,
    blocks: usize,
    /// 0 for what is seen and a very small number for what is not, `[sequences, 1, blocks, reach, 3 * reach]`.
    hidden: Tensor,
}

/// Keys and values `[sequences, heads, global, head]` of tokens that all see, and which of them there are (1 or 0),
/// `[sequences, global]`.
pub(super) type Shared<'a> = (&'a Tensor, &'a Tensor, &'a Tensor);

impl Window {
    /// `visible` is `[sequences, length]`: 1 for what may be attended to, 0 for padding and global tokens.
    pub fn new(visible: &Tensor, reach: usize) -> Result<Self> {
        let (count, length) = visible.dims2()?;
        // In a short sequence a longer reach would only add padding.
        let reach = reach.min(length).max(1);
        let blocks = length.div_ceil(reach);
        let band: Vec<f32> = (0..reach)
            .flat_map(|query| (0..3 * reach).map(move |key| (query..=query + 2 * reach).contains(&key)))
            .map(|near| if near { 0.0 } else { HIDDEN as f32 })
            .collect();
        let band = Tensor::from_vec(band, (reach, 3 * reach), visible.device())?;
        let keys = triples(&visible.reshape((count, length, 1))?, reach, blocks)?;
        let keys = hidden(&keys.reshape((count, 1, blocks, 1, 3 * reach))?)?;
        Ok(Self { reach, blocks, hidden: keys.broadcast_add(&band)? })
    }

    /// The context of each token, `[sequences, heads, length, head]`, from scaled queries, keys and values of that shape.
    pub fn attend(&self, query: &Tensor, key: &Tensor, value: &Tensor, shared: Option<Shared<'_>>) -> Result<Tensor> {
        let (count, heads, length, head) = query.dims4()?;
        let Self { reach, blocks, ref hidden } = *self;
        let rows = blocks * reach;
        let all = count * heads * blocks;
        let flat = |x: &Tensor| x.reshape((count * heads, length, head));
        let query = query.pad_with_zeros(2, 0, rows - length)?;
        let keys = triples(&flat(key)?, reach, blocks)?;
        let near = query.reshape((all, reach, head))?.matmul(&keys.t()?)?;
        let near = near.reshape((count, heads, blocks, reach, 3 * reach))?.broadcast_add(hidden)?;
        let scores = match shared {
            None => near,
            Some((key, _, present)) => Tensor::cat(&[&self.far(&query, key, present)?, &near], D::Minus1)?,
        };
        let shares = softmax(&scores)?;
        let far = shares.dim(D::Minus1)? - 3 * reach;
        let near = shares.narrow(D::Minus1, far, 3 * reach)?.reshape((all, reach, 3 * reach))?;
        let near = near.matmul(&triples(&flat(value)?, reach, blocks)?)?.reshape((count, heads, rows, head))?;
        let context = match shared {
            None => near,
            Some((_, value, _)) => {
                let far = shares.narrow(D::Minus1, 0, far)?.reshape((count, heads, rows, far))?;
                (near + far.matmul(value)?)?
            }
        };
        context.narrow(2, 0, length)
    }

    /// Scores of the global tokens, `[sequences, heads, blocks, reach, global]`.
    fn far(&self, query: &Tensor, key: &Tensor, present: &Tensor) -> Result<Tensor> {
        let (count, heads, global, _) = key.dims4()?;
        let absent = hidden(present)?.reshape((count, 1, 1, global))?;
        let scores = query.matmul(&key.t()?)?.broadcast_add(&absent)?;
        scores.reshape((count, heads, self.blocks, self.reach, global))
    }
}

/// `[count, length, size]` to `[count * blocks, 3 * reach, size]`: for each block its rows between those of the blocks
/// before and behind it, with zeros beyond the ends.
fn triples(x: &Tensor, reach: usize, blocks: usize) -> Result<Tensor> {
    let (count, length, size) = x.dims3()?;
    let padded = x.pad_with_zeros(1, reach, (blocks + 1) * reach - length)?;
    let padded = padded.reshape((count, blocks + 2, reach, size))?;
    let parts = [padded.narrow(1, 0, blocks)?, padded.narrow(1, 1, blocks)?, padded.narrow(1, 2, blocks)?];
    Tensor::cat(&parts, 2)?.reshape((count * blocks, 3 * reach, size))
}
