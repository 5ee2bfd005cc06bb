//! English words that say little about a topic, in alphabetical order. The constants of the segmenters were chosen with this
//! list.

/// True for a lower-case function word, alone or contracted with another (`don't`, `she'll`), and for what a tokeniser
/// leaves of a contraction (`n't`, `ve`, single letters).
pub(crate) fn says_nothing(word: &str) -> bool {
    let known = |word: &str| WORDS.binary_search(&word).is_ok();
    let (base, end) = word.split_once(['\'', '’']).unwrap_or((word, ""));
    known(base) || (end == "t" && base.ends_with('n')) || matches!(base, "ll" | "re" | "ve") || is_letter(base)
}

fn is_letter(word: &str) -> bool {
    matches!(word.as_bytes(), [byte] if byte.is_ascii_lowercase())
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "almost", "along", "already", "also", "although",
    "always", "am", "among", "an", "and", "another", "any", "are", "around", "as", "at", "away", "back", "be",
    "became", "because", "become", "been", "before", "being", "below", "between", "both", "but", "by", "came", "can",
    "cannot", "come", "could", "did", "do", "does", "doing", "done", "down", "during", "each", "either", "enough",
    "etc", "even", "ever", "every", "few", "for", "from", "further", "get", "give", "given", "go", "got", "had",
    "has", "have", "having", "he", "hence", "her", "here", "hers", "herself", "him", "himself", "his", "how",
    "however", "i", "if", "in", "indeed", "instead", "into", "is", "it", "its", "itself", "just", "least", "less",
    "let", "like", "made", "make", "many", "may", "me", "might", "mine", "more", "most", "much", "must", "my",
    "myself", "near", "neither", "never", "no", "none", "nor", "not", "now", "of", "off", "often", "on", "once",
    "one", "only", "onto", "or", "other", "others", "otherwise", "ought", "our", "ours", "ourselves", "out", "over",
    "own", "per", "perhaps", "put", "quite", "rather", "really", "said", "same", "say", "see", "seem", "seems",
    "several", "shall", "she", "should", "since", "so", "some", "still", "such", "take", "than", "that", "the",
    "their", "theirs", "them", "themselves", "then", "there", "therefore", "these", "they", "this", "those",
    "though", "through", "thus", "to", "too", "toward", "towards", "two", "under", "until", "up", "upon", "us",
    "use", "used", "very", "was", "we", "well", "went", "were", "what", "whatever", "when", "where", "whether",
    "which", "while", "who", "whole", "whom", "whose", "why", "will", "with", "within", "without", "would", "yet",
    "you", "your", "yours", "yourself",
];

#[cfg(test)]
mod tests {
    use super::{WORDS, says_nothing};

    #[test]
    fn the_list_can_be_searched() {
        assert!(WORDS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(says_nothing("the") && says_nothing("a") && says_nothing("yourself") && !says_nothing("segment"));
    }

    #[test]
    fn contractions_say_as_little() {
        for word in ["don't", "isn’t", "n't", "she'll", "i've", "ve", "that's", "s"] {
            assert!(says_nothing(word), "{word}");
        }
        for word in ["ship's", "o'clocks", "vet", "ß", ""] {
            assert_eq!(says_nothing(word), word == "o'clocks", "{word}");
        }
    }
}
