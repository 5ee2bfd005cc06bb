/// From this length on, frequent characters of the later text start no block.
pub(super) const LONG: usize = 200;

/// A run of characters that two texts have in common: its places in both, and its length.
pub(super) type Block = (usize, usize, usize);

/// A text's characters, and where each occurs.
#[derive(Debug, Clone)]
pub struct Indexed {
    pub(super) chars: Vec<char>,
    /// The characters there are, in order.
    alphabet: Vec<char>,
    /// For each of `chars` its place in `alphabet`.
    pub(super) codes: Vec<u32>,
    /// The places of character c of the alphabet are `places[starts[c]..starts[c + 1]]`: none for popular ones.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Indexed {
    pub(super) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut alphabet = chars.clone();
        alphabet.sort_unstable();
        alphabet.dedup();
        let codes: Vec<u32> = chars.iter().map(|c| alphabet.partition_point(|other| other < c) as u32).collect();
        let mut counts = vec![0u32; alphabet.len()];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        if chars.len() >= LONG {
            let most = (chars.len() / 100 + 1) as u32;
            counts.iter_mut().filter(|count| **count > most).for_each(|count| *count = 0);
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        starts.push(0);
        for &count in &counts {
            total += count;
            starts.push(total);
        }
        let mut places = vec![0; total as usize];
        // From the back, so that each character's places increase.
        for (place, &code) in codes.iter().enumerate().rev() {
            let (code, count) = (code as usize, &mut counts[code as usize]);
            if *count > 0 {
                *count -= 1;
                places[(starts[code] + *count) as usize] = place as u32;
            }
        }
        Self { chars, alphabet, codes, starts, places }
    }

    /// For each character of this alphabet what `of` makes of its places in another text.
    pub(super) fn places_in<'a, T>(&self, other: &'a Indexed, of: impl Fn(&'a [u32]) -> T) -> Vec<T> {
        let mut at = 0;
        let places = self.alphabet.iter().map(|c| {
            while other.alphabet.get(at).is_some_and(|there| there < c) {
                at += 1;
            }
            of(if other.alphabet.get(at) == Some(c) { other.places(at) } else { &[] })
        });
        places.collect()
    }

    fn places(&self, code: usize) -> &[u32] {
        &self.places[self.starts[code] as usize..self.starts[code + 1] as usize]
    }
}
