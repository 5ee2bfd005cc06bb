//! Small changes to inputs, by a seed.

/// Bytes that are special to many formats.
const SPECIAL: &[u8] = b"\0\n\r\t \"'(){}[]<>*_`#|=:,;.!?&\\/%-+~^$@\x1e\x7f\x80\xc3\xff0129azAZ";

/// Makes inputs out of others. The same seed gives the same changes.
#[derive(Debug, Clone)]
pub struct Mutator(u64);

impl Mutator {
    /// Returns a mutator.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Draws a number below `n`; 0 where that is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % n.max(1)
    }

    /// Returns `input` with one to eight changes, which may take over pieces of `other` and of `words`; at most
    /// `longest` bytes.
    #[must_use]
    pub fn mutate(&mut self, input: &[u8], other: &[u8], words: &[&str], longest: usize) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut bytes, other, words);
            bytes.truncate(longest);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8], words: &[&str]) {
        let at = self.below(bytes.len() + 1);
        match self.below(10) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => {
                let new = SPECIAL[self.below(SPECIAL.len())];
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = new;
                }
            }
            2 => bytes.insert(at, SPECIAL[self.below(SPECIAL.len())]),
            3 => {
                let range = self.range(bytes, 32);
                bytes.drain(range);
            }
            // Nesting and long runs come of repetition.
            4 => {
                let piece = bytes[self.range(bytes, 24)].to_vec();
                let times = 1 << self.below(7);
                bytes.splice(at..at, piece.repeat(times));
            }
            5 => {
                let piece = other[self.range(other, 64)].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                let piece = bytes[self.range(bytes, 64)].to_vec();
                bytes.splice(at..at, piece);
            }
            7 if self.below(4) == 0 => bytes.truncate(at),
            _ if words.is_empty() => bytes.insert(at, u8::try_from(self.below(256)).unwrap_or(0)),
            _ => {
                let word = words[self.below(words.len())].bytes().collect::<Vec<u8>>();
                bytes.splice(at..at, word);
            }
        }
    }

    /// Draws a range of at most `longest` bytes.
    fn range(&mut self, bytes: &[u8], longest: usize) -> std::ops::Range<usize> {
        let start = self.below(bytes.len() + 1);
        let length = self.below(longest.min(bytes.len() - start) + 1);
        start..start + length
    }
}

#[cfg(test)]
mod tests {
    use super::Mutator;

    #[test]
    fn changes_are_those_of_the_seed_and_stay_short() {
        let run = |seed| {
            let mut mutator = Mutator::new(seed);
            let mut bytes = b"a seed".to_vec();
            for _ in 0..2000 {
                bytes = mutator.mutate(&bytes, b"another", &["word"], 100);
                assert!(bytes.len() <= 100);
            }
            bytes
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }
}
