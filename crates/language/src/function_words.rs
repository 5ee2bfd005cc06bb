//! Words that hold sentences together and say little about their topic, by language.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::Language;
use crate::english::says_nothing;

/// Japanese particles and endings as the dictionary cuts them, and words that ask.
const JAPANESE: &str = "の に は を た が で て と し れ さ ある いる も する から な こと として い や れる など なっ ない この ため その \
    あっ よう また もの という あり まで られ なる へ か だ これ によって により おり より による ず なり られる において ば なかっ なく \
    しかし について せ だっ その後 できる それ う ので なお のみ でき き つ における および いう さらに でも ら たり その他 に関する たち \
    ます ん なら に対して では には とは ました まし です でしょう どう どの どんな なぜ 何 いつ どこ だれ 誰 どれ どちら いくつ ください しま \
    てい ている ことが ことに でき ませ ません てく でく さい てか ときは ときに とき 時 ほど くらい ぐらい だけ";

/// Chinese ones.
const CHINESE: &str = "的 了 是 在 和 与 及 或 也 就 都 而 被 把 对 从 到 为 于 以 之 其 这 那 此 上 下 中 等 吗 呢 吧 什么 怎么 怎样 如何 \
    为什么 哪 哪里 哪个 谁 多少 几 要 会 能 可以 应该 一个";

/// Thai ones.
const THAI: &str = "ที่ และ ของ ใน เป็น การ มี ได้ ให้ จะ ไม่ ว่า ความ กับ โดย หรือ ก็ จาก แต่ นี้ นั้น คือ ไป มา อยู่ แล้ว ซึ่ง ถ้า เมื่อ \
    อย่างไร อะไร ทำไม ไหน ใคร เท่าไร กี่ ต้อง ควร ไหม";

/// Number of languages.
const LANGUAGES: usize = Language::Other as usize + 1;

static LISTS: [OnceLock<HashSet<&'static str>>; LANGUAGES] = [const { OnceLock::new() }; LANGUAGES];

/// True for a word in lower case that holds sentences of a language together (`the`, `und`, `の`), by the crate's own lists of
/// English, Chinese, Japanese and Thai, and by NLTK's of the other languages with a stemmer. There is no list of the rest.
///
/// English contractions (`don't`) and single letters count as well.
#[must_use]
pub fn is_function_word(word: &str, language: Language) -> bool {
    if language == Language::English {
        return says_nothing(word);
    }
    let list = LISTS.get(language as usize).map(|list| list.get_or_init(|| of(language)));
    list.is_some_and(|list| list.contains(word))
}

fn of(language: Language) -> HashSet<&'static str> {
    match language {
        Language::Japanese => JAPANESE.split_ascii_whitespace().collect(),
        Language::Chinese => CHINESE.split_ascii_whitespace().collect(),
        Language::Thai => THAI.split_ascii_whitespace().collect(),
        _ => nltk(language),
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn nltk(language: Language) -> HashSet<&'static str> {
    stop_words::lookup(language.code()).into_iter().flatten().copied().collect()
}

/// In a browser they are left out, as the stemmers are.
#[cfg(target_arch = "wasm32")]
fn nltk(_: Language) -> HashSet<&'static str> {
    HashSet::new()
}

#[cfg(test)]
mod tests {
    use super::is_function_word;
    use crate::Language;

    #[test]
    fn languages_have_function_words_of_their_own() {
        for (language, word, other) in [
            (Language::English, "where", "wo"),
            (Language::German, "für", "mühle"),
            (Language::French, "dans", "moulin"),
            (Language::Swedish, "och", "kvarn"),
            (Language::Turkish, "için", "değirmen"),
            (Language::Romanian, "aceasta", "moara"),
            (Language::Russian, "что", "мельница"),
            (Language::Arabic, "الذي", "طاحونة"),
            (Language::Japanese, "の", "索引"),
            (Language::Chinese, "的", "索引"),
            (Language::Thai, "ที่", "ดัชนี"),
        ] {
            assert!(is_function_word(word, language) && !is_function_word(other, language), "{language}");
        }
        assert!(!is_function_word("the", Language::Greek) && !is_function_word("the", Language::Other));
    }

    #[test]
    fn every_language_has_its_place() {
        for language in Language::all() {
            assert_eq!(Language::all().nth(language as usize), Some(language));
            let has_list = stop_words::lookup(language.code()).is_some();
            let has_stemmer = crate::stems::algorithm(language).is_some();
            assert!(has_list || !has_stemmer, "{language}");
        }
    }
}
