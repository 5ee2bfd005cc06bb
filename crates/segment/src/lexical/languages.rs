//! Checks that words are those of the document's language.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use pericope_api::{Boundaries, Document, Segmentation, Segmenter, segment_into};
use pericope_language::Language;

use super::words::Words;
use super::{BayesSeg, C99, TextTiling, U00};
use crate::language;

/// Twelve sentences about bread, and twelve about ships.
const GERMAN: [&str; 24] = [
    "Der Teig besteht aus Mehl, Wasser, Hefe und Salz.",
    "Das Mehl wird mit dem Wasser und der Hefe zu einem glatten Teig geknetet.",
    "Danach ruht der Teig, und die Hefe macht ihn locker.",
    "Der Bäcker formt aus den Teigen runde Brote.",
    "Die Brote ruhen in Körben, die mit Mehl bestäubt sind.",
    "Im Ofen werden die Brote mit viel Dampf gebacken.",
    "Der Dampf des Ofens macht die Kruste der Brote knusprig.",
    "Ein Brot mit dunkler Kruste braucht einen heißen Ofen.",
    "Das Salz gibt dem Brot Geschmack und dem Teig Farbe.",
    "Die Bäcker kneten den Teig am Abend, und sie backen das Brot am Morgen.",
    "Der Teig aus Roggen braucht neben der Hefe auch Salz.",
    "So kommt das Brot mit knuspriger Kruste aus dem Ofen des Bäckers.",
    "Das Schiff liegt im Hafen, und die Segel sind am Mast festgemacht.",
    "Die Matrosen setzen die Segel, und der Wind treibt das Schiff aus dem Hafen.",
    "Der Kapitän bestimmt den Kurs des Schiffes auf der Karte.",
    "Mit dem Wind von achtern fahren die Schiffe schnell.",
    "Die Wellen schlagen an das Schiff, und der Mast knarrt im Wind.",
    "Die Matrosen holen die Segel ein, wenn ein Sturm droht.",
    "Im Sturm hält der Kapitän den Kurs gegen die Wellen.",
    "Der Anker hält die Schiffe in einer geschützten Bucht.",
    "Der Kapitän liest auf der Karte, wo die Schiffe ankern.",
    "Die Matrosen nähen die Segel und streichen den Mast.",
    "Der Wind dreht, und der Kapitän ändert den Kurs.",
    "Im Hafen werfen die Matrosen den Anker und rollen die Segel ein.",
];

/// Ten sentences about bread, and ten about ships.
const JAPANESE: [&str; 20] = [
    "パンの生地は小麦粉と水と酵母と塩で作ります。",
    "小麦粉に水と酵母を加えて、生地をこねます。",
    "生地を休ませると、酵母の働きで大きく膨らみます。",
    "職人は生地を丸めて、パンの形にします。",
    "小麦粉を振った籠でパンの生地を休ませます。",
    "窯に蒸気を入れて、パンを焼きます。",
    "蒸気のおかげで、パンの皮が香ばしくなります。",
    "皮の厚いパンは、熱い窯で長く焼きます。",
    "塩は生地の味を整えます。",
    "職人は朝早く窯に火を入れて、パンを焼きます。",
    "船は港に停まり、帆は帆柱に結ばれています。",
    "船員が帆を上げると、風が船を港の外へ運びます。",
    "船長は海図を見て、船の航路を決めます。",
    "追い風を受けると、船は速く進みます。",
    "波が船に当たり、帆柱が風で軋みます。",
    "嵐が来ると、船員は帆を下ろします。",
    "船長は嵐の波の中でも航路を守ります。",
    "錨を下ろした船は、入り江で夜を過ごします。",
    "船長は海図で錨を下ろす場所を探します。",
    "港に着くと、船員は錨を投げて帆をたたみます。",
];

fn german() -> Document {
    Document::from_sentences("d", &GERMAN)
}

fn japanese() -> Document {
    Document::from_sentences("d", &JAPANESE)
}

/// Number of words that stand before and after a gap.
fn shared(words: &Words, gap: usize) -> usize {
    let side = |sentences: std::ops::Range<usize>| -> HashSet<u32> {
        sentences.flat_map(|i| words.of(i).iter().copied()).collect()
    };
    side(0..gap).intersection(&side(gap..words.sentences())).count()
}

#[test]
fn topics_are_found_in_the_language_of_the_document() {
    for (document, gap) in [(german(), 12), (japanese(), 10)] {
        let segmenters: [&dyn Segmenter; 3] = [&C99::default(), &U00::default(), &BayesSeg::default()];
        for segmenter in segmenters {
            assert_eq!(segment_into(segmenter, &document, 2).unwrap().after(), [gap]);
        }
    }
    let Segmentation::Scores { scores, .. } = TextTiling { w: 10, k: 6 }.segment(&german()).unwrap() else {
        unreachable!()
    };
    let found = Boundaries::top(&scores, 1);
    assert!(found.after()[0].abs_diff(12) <= 1, "{found:?}");
}

#[test]
fn two_topics_share_no_words_but_those_that_english_knows_not_to_leave_out() {
    for (document, language, gap) in [(german(), Language::German, 12), (japanese(), Language::Japanese, 10)] {
        assert_eq!(language::of(&document), language);
        let own = shared(&Words::read(&document), gap);
        let english = shared(&Words::read_as(&document, Language::English), gap);
        assert!(own * 4 < english, "{language}: {own}, {english}");
    }
}

#[test]
fn the_forms_of_a_word_are_one() {
    let document = Document::from_sentences("d", &["Häuser", "Haus", "Kindern", "Kinder"]);
    let same = |language| {
        let words = Words::read_as(&document, language);
        words.of(0).contains(&words.of(1)[0]) && words.of(2) == words.of(3)
    };
    assert!(same(Language::German) && !same(Language::English));
}
