//! A small seeded generator and a hash, so that seeded results do not change with a dependency's version.

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers for the same seed everywhere.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where the bound is 0. The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Puts the items in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Returns a number of 64 bits that another text or another seed changes: FNV-1a, begun at its offset basis XOR `seed`.
#[must_use]
pub fn fnv1a(seed: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::{SplitMix64, fnv1a};

    /// The values are those of the authors' test vectors for 64 bits.
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv1a(0, *b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(0, *b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(0, *b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = SplitMix64::new(1_234_567);
        let found = [random.next(), random.next(), random.next()];
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_are_in_range_and_shuffles_lose_nothing() {
        let mut random = SplitMix64::new(3);
        let mut seen = [0; 5];
        (0..5000).for_each(|_| seen[random.below(5)] += 1);
        assert!(seen.iter().all(|&times| times > 800), "{seen:?}");
        assert_eq!(random.below(0), 0);
        let mut items: Vec<u8> = (0..100).collect();
        random.shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.iter().enumerate().all(|(i, &item)| i == usize::from(item)));
    }
}
