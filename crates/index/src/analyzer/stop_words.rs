//! Words that hold a sentence together, by language.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use pericope_store::Language;
use tantivy::tokenizer::{RawTokenizer, StopWordFilter, TextAnalyzer};

use super::stems::algorithm;

/// English ones, and those that say that something is asked, and what a tokenizer leaves of contractions.
const ENGLISH: &str = "a about again all also am an and any are as at be been being but by can could d did do does \
    doing don down during each few for from further had has have having he her here hers him his how i if in into is \
    isn it its just ll m may me might more most must my no nor not now of off on once only or other our out over own \
    please re s same shall she should so some such t than that the their them then there these they this those \
    through to too up us ve very was we were what when where which while who whom whose why will with would you your";

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

/// True for a word in lower case, as it stands in a text.
pub(super) fn is_one(word: &str, language: Language) -> bool {
    match language {
        Language::English => listed(&WORDS[0], ENGLISH).contains(word),
        Language::Japanese => listed(&WORDS[1], JAPANESE).contains(word),
        Language::Chinese => listed(&WORDS[2], CHINESE).contains(word),
        Language::Thai => listed(&WORDS[3], THAI).contains(word),
        // tantivy has Snowball's lists, of some languages.
        _ => {
            let mut filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
            let filter = filters.entry(language).or_insert_with(|| {
                let filter = algorithm(language).and_then(StopWordFilter::new)?;
                Some(TextAnalyzer::builder(RawTokenizer::default()).filter(filter).build())
            });
            filter.as_mut().is_some_and(|filter| !filter.token_stream(word).advance())
        }
    }
}

/// By language, once it was asked for; nothing where there is no list.
static FILTERS: LazyLock<Mutex<HashMap<Language, Option<TextAnalyzer>>>> = LazyLock::new(Mutex::default);

static WORDS: [OnceLock<HashSet<&'static str>>; 4] = [const { OnceLock::new() }; 4];

fn listed(words: &'static OnceLock<HashSet<&'static str>>, list: &'static str) -> &'static HashSet<&'static str> {
    words.get_or_init(|| list.split_ascii_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::{Language, is_one};

    #[test]
    fn languages_have_stop_words_of_their_own() {
        for (language, word, other) in [
            (Language::English, "where", "wo"),
            (Language::German, "für", "mühle"),
            (Language::French, "dans", "moulin"),
            (Language::Swedish, "och", "kvarn"),
            (Language::Japanese, "の", "索引"),
            (Language::Chinese, "的", "索引"),
            (Language::Thai, "ที่", "ดัชนี"),
        ] {
            assert!(is_one(word, language) && !is_one(other, language), "{language}");
        }
        assert!(!is_one("the", Language::Greek) && !is_one("the", Language::Other), "no list");
    }
}
