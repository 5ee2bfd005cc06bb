use std::ops::Range;

/// Moves places in the lower-case form of `text` to where they lie in `text`: on the boundaries of its characters, and in the same
/// order. The parts of a character that becomes several are taken together.
pub(super) fn places_in(text: &str, located: &mut [(u32, Range<usize>)]) {
    // Where each character begins: in lower case, and in the text. (The one letter whose form depends on its neighbours, the Greek
    // sigma, takes as many bytes in either.)
    let mut begins = Vec::with_capacity(text.len() + 1);
    let mut length = 0;
    for (at, character) in text.char_indices() {
        begins.push((length, at));
        length += character.to_lowercase().map(char::len_utf8).sum::<usize>();
    }
    begins.push((length, text.len()));
    let back = |place: usize| {
        let next = begins.partition_point(|(lower, _)| *lower <= place);
        begins.get(next.saturating_sub(1)).map_or(0, |(_, at)| *at)
    };
    for (_, range) in located {
        *range = back(range.start)..back(range.end);
    }
}

#[cfg(test)]
mod tests {
    use super::places_in;

    #[test]
    fn places_are_those_of_the_same_characters() {
        // Two bytes become three, and three become two.
        let text = "A\u{130}b \u{1e9e}C \u{3a3}";
        let lower = text.to_lowercase();
        assert_eq!(lower, "ai\u{307}b \u{df}c \u{3c3}");
        let word = |text: &str, word: &str| text.find(word).map(|at| at..at + word.len()).unwrap_or_default();
        let words = ["ai\u{307}b", "\u{df}c", "\u{3c3}"];
        let mut located: Vec<_> = words.iter().map(|part| (7, word(&lower, part))).collect();
        places_in(text, &mut located);
        let wanted = ["A\u{130}b", "\u{1e9e}C", "\u{3a3}"].map(|part| (7, word(text, part)));
        assert_eq!(located, wanted);
        // Within a character that becomes two.
        let mut located = [(7, 0..2), (8, 2..4)];
        places_in(text, &mut located);
        assert_eq!(located, [(7, 0..1), (8, 1..3)]);
    }
}
