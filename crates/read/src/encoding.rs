//! From bytes to text: UTF-8 as it is, UTF-16 by its mark, anything else by what the page says or by what it looks like.

use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, ISO_2022_JP, ISO_8859_2, ISO_8859_4, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1250, WINDOWS_1252, WINDOWS_1257,
};
use memchr::memmem;
use pericope_api::Span;
use serde::{Deserialize, Serialize};

use crate::binary::binary;
use crate::error::ReadError;
use crate::western::{Western, has_pairs, is_scattered, is_sparse, western};

/// Text and the encoding that it was in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text. A byte order mark of UTF-8 is still in it; that of any other encoding is not.
    pub text: String,
    /// The name of the encoding in the Encoding Standard, or `CESU-8`, with what was replaced; `None` for UTF-8.
    pub encoding: Option<String>,
    /// What of the file could not be read, in words: `page 2 of 3 could not be read in full: the parser gave up`. `None`
    /// where the text is all of it.
    pub missing: Option<String>,
    /// Headings that the file tells by more than its text: those of a PDF by the size of their letters. In order, without overlap.
    pub headings: Vec<DecodedHeading>,
}

/// A heading in the text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecodedHeading {
    /// Its bytes in the text.
    pub span: Span,
    /// From 1.
    pub level: u8,
}

/// The text of a file, where `declared` is the encoding that it says it has.
///
/// Bytes that are UTF-8 are taken for that, and UTF-8 with surrogates (CESU-8) as well. UTF-16 is known by its byte order mark. What is left is decoded from the
/// declared encoding where it fits, else from the one that it looks like, and has to look like text then. The switches of
/// ISO-2022-JP, which is all ASCII, are unmistakable.
///
/// # Errors
/// [`ReadError::Binary`] for what is no text, [`ReadError::InvalidUtf8`] for UTF-8 that is broken in places and for
/// bytes that are no plausible text in any encoding.
pub(crate) fn decode(path: &Path, bytes: Vec<u8>, declared: Option<&'static Encoding>) -> Result<Decoded, ReadError> {
    let is_binary = |what: &str| ReadError::Binary { path: path.to_owned(), what: what.to_owned() };
    for (mark, encoding) in [([0xff, 0xfe], UTF_16LE), ([0xfe, 0xff], UTF_16BE)] {
        if let Some(rest) = bytes.strip_prefix(&mark) {
            let text = encoding.decode_without_bom_handling_and_without_replacement(rest);
            return match text.filter(|text| !text.contains('\0')) {
                Some(text) => Ok(named(text.into_owned(), encoding)),
                None => Err(is_binary("broken UTF-16, or binary data")),
            };
        }
    }
    if let Some(what) = binary(&bytes) {
        return Err(ReadError::Binary { path: path.to_owned(), what });
    }
    if let Some(decoded) = escaped_japanese(&bytes) {
        return Ok(decoded);
    }
    // The one legacy encoding whose bytes are all ASCII.
    let escaped = declared.filter(|encoding| encoding.name() == "ISO-2022-JP" && bytes.contains(&0x1b));
    let (bytes, error) = match String::from_utf8(bytes) {
        Ok(text) if escaped.is_none() => return Ok(Decoded { text, ..Decoded::default() }),
        Ok(text) => (text.into_bytes(), 0),
        Err(e) => {
            let offset = e.utf8_error().valid_up_to();
            (e.into_bytes(), offset)
        }
    };
    if declared.is_none_or(|encoding| encoding == UTF_8)
        && let Some(decoded) = with_surrogates(&bytes)
    {
        return Ok(decoded);
    }
    let invalid = || ReadError::InvalidUtf8 { path: path.to_owned(), offset: error };
    if escaped.is_none() && is_broken_utf8(&bytes) {
        return Err(invalid());
    }
    let declared = declared.filter(|&encoding| encoding != UTF_8);
    let guesses = [declared, Some(guess(&bytes))];
    let fits = |encoding: &'static Encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes)?;
        is_plausible(&text).then(|| named(text.into_owned(), encoding))
    };
    guesses.into_iter().flatten().find_map(fits).ok_or_else(invalid)
}

fn named(text: String, encoding: &'static Encoding) -> Decoded {
    Decoded { text, encoding: Some(encoding.name().to_owned()), ..Decoded::default() }
}

/// The text of bytes that would be UTF-8, did not three bytes each stand for the halves of surrogate pairs: programs that
/// hold text as UTF-16 write such files. A half without the other reads as U+FFFD. `None` for anything else.
fn with_surrogates(bytes: &[u8]) -> Option<Decoded> {
    let (mut text, mut lone) = (String::with_capacity(bytes.len()), 0usize);
    let mut rest = bytes;
    while let Err(error) = str::from_utf8(rest) {
        let (valid, other) = rest.split_at(error.valid_up_to());
        text.push_str(str::from_utf8(valid).ok()?);
        let half = surrogate(other)?;
        rest = &other[3..];
        let pair = surrogate(rest).and_then(|low| char::decode_utf16([half, low]).next()?.ok());
        if pair.is_some() {
            rest = &rest[3..];
        } else {
            lone += 1;
        }
        text.push(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    text.push_str(str::from_utf8(rest).ok()?);
    let replaced = match lone {
        0 => String::new(),
        1 => " (half of a surrogate pair stands alone: replaced by U+FFFD)".to_owned(),
        _ => format!(" ({lone} halves of surrogate pairs stand alone: replaced by U+FFFD)"),
    };
    Some(Decoded { text, encoding: Some(format!("CESU-8{replaced}")), ..Decoded::default() })
}

/// The half of a surrogate pair that the first three of `bytes` stand for.
fn surrogate(bytes: &[u8]) -> Option<u16> {
    match *bytes {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
            Some(0xd000 | (u16::from(second & 0x3f) << 6) | u16::from(third & 0x3f))
        }
        _ => None,
    }
}

/// Text that switches to Japanese and back by the escape sequences of ISO-2022-JP.
fn escaped_japanese(bytes: &[u8]) -> Option<Decoded> {
    const SWITCHES: [[&[u8]; 2]; 2] = [[b"\x1b$B", b"\x1b$@"], [b"\x1b(B", b"\x1b(J"]];
    let holds = |any: &[&[u8]; 2]| any.iter().any(|escape| memmem::find(bytes, escape).is_some());
    if memchr::memchr(0x1b, bytes).is_none() || !SWITCHES.iter().all(holds) {
        return None;
    }
    let text = ISO_2022_JP.decode_without_bom_handling_and_without_replacement(bytes)?;
    is_plausible(&text).then(|| named(text.into_owned(), ISO_2022_JP))
}

/// What `chardetng` takes the bytes for, unless they are ASCII but for a few that Western languages write.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let found = western(bytes);
    let is_western = if [BIG5, SHIFT_JIS].contains(&guess) {
        // Their characters may well be one byte beyond ASCII and one within, as Western letters and quotation marks are.
        found == Some(Western::Signs) && !has_pairs(bytes) && !bytes.iter().any(|b| matches!(b, 0x80..=0x9f))
    } else if [EUC_JP, EUC_KR, GBK].contains(&guess) {
        // Every language that these are for writes two bytes beyond ASCII side by side.
        let scattered = is_sparse(bytes) && is_scattered(bytes);
        (found == Some(Western::Signs) || scattered) && !has_pairs(bytes)
    } else {
        match found {
            Some(Western::Signs) => true,
            // Baltic and Turkish words are much like Western ones, and Slavic ones where no letter tells.
            Some(Western::Letters | Western::Certain) if guess == WINDOWS_1257 => !bytes.iter().any(|&b| is_baltic(b)),
            Some(Western::Certain) => [ISO_8859_2, ISO_8859_4, WINDOWS_1250].contains(&guess),
            _ => false,
        }
    };
    if is_western { WINDOWS_1252 } else { guess }
}

/// True for a letter of windows-1257 that Baltic languages often write, and that is none of theirs in windows-1252.
fn is_baltic(byte: u8) -> bool {
    byte >= 0xc0 && matches!(byte | 0x20, 0xe0..=0xe2 | 0xe6..=0xe8 | 0xeb..=0xee | 0xf0 | 0xf2 | 0xf8 | 0xfb | 0xfe)
}

/// True where most of what is not ASCII is UTF-8: decoding all of it from another encoding would spoil the good part.
fn is_broken_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > 0 && good >= bad
}

/// True where text has next to no control characters, and its other characters beyond ASCII are mostly letters.
fn is_plausible(text: &str) -> bool {
    let (mut all, mut controls, mut foreign, mut odd) = (0usize, 0usize, 0usize, 0usize);
    for c in text.chars() {
        all += 1;
        if c.is_control() {
            controls += usize::from(!matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{85}'));
        } else if !c.is_ascii() {
            foreign += 1;
            // Quotation marks, dashes, signs of money and the like are at home in text.
            let known = c.is_alphanumeric() || c.is_whitespace() || is_common_sign(c);
            odd += usize::from(!known);
        }
    }
    controls * 200 <= all && (odd <= 3 || odd * 2 <= foreign)
}

fn is_common_sign(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2044}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
        || unicode_normalization::char::is_combining_mark(c)
        || "¡¢£¥§©«®°±·»¿€™№×÷".contains(c)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use encoding_rs::{BIG5, EUC_JP, GBK, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

    use super::decode;
    use crate::ReadError;

    fn read(bytes: &[u8]) -> Result<(String, Option<String>), ReadError> {
        decode(Path::new("f"), bytes.to_vec(), None).map(|decoded| (decoded.text, decoded.encoding))
    }

    #[test]
    fn utf8_and_utf16_are_known_for_certain() {
        assert_eq!(read("Größe".as_bytes()).unwrap(), ("Größe".into(), None));
        assert_eq!(read("\u{feff}x".as_bytes()).unwrap(), ("\u{feff}x".into(), None));
        let wide: Vec<u16> = "Größe 🚰".encode_utf16().collect();
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide.iter().flat_map(|c| c.to_le_bytes())).collect();
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(wide.iter().flat_map(|c| c.to_be_bytes())).collect();
        assert_eq!(read(&little).unwrap(), ("Größe 🚰".into(), Some("UTF-16LE".into())));
        assert_eq!(read(&big).unwrap(), ("Größe 🚰".into(), Some("UTF-16BE".into())));
        assert!(matches!(read(b"\xff\xfe\x00\xd8x\x00"), Err(ReadError::Binary { .. })));
    }

    #[test]
    fn older_encodings_are_recognised() {
        let russian = "Насос качает воду из колодца в бак, пока бак не наполнится до краёв.";
        let japanese = "ポンプは井戸から水をくみ上げ、タンクがいっぱいになるまで動き続けます。";
        let chinese = "水泵把井水抽到水箱里，直到水箱装满为止。请先阅读本手册。";
        let german = "Die Pumpe fördert Wasser aus dem Brunnen, bis der Behälter überläuft – „schön“ ist das nicht.";
        let taiwanese = "水泵把井水抽到水箱裡，直到水箱裝滿為止。請先閱讀本手冊。";
        let polish =
            "Pompa tłoczy wodę ze studni do zbiornika, aż będzie pełny. Proszę najpierw przeczytać instrukcję.";
        let czech = "Čerpadlo přečerpává vodu ze studny do nádrže, dokud není plná. Nejprve si přečtěte příručku.";
        for (text, encoding) in [
            (russian, WINDOWS_1251),
            (russian, KOI8_R),
            (japanese, SHIFT_JIS),
            (japanese, EUC_JP),
            (chinese, GBK),
            (german, WINDOWS_1252),
            (polish, WINDOWS_1250),
            (czech, WINDOWS_1250),
            (taiwanese, BIG5),
            ("caf\u{e9} au lait", WINDOWS_1252),
        ] {
            let (bytes, _, replaced) = encoding.encode(text);
            assert!(!replaced, "{}", encoding.name());
            let (found, name) = read(&bytes).unwrap();
            assert_eq!(found, text, "{name:?}");
            // KOI8-R and KOI8-U differ in letters that are not in the text.
            if encoding != KOI8_R {
                assert_eq!(name.as_deref(), Some(encoding.name()));
            }
        }
    }

    #[test]
    fn a_few_signs_and_letters_in_ascii_are_western() {
        for text in [
            "The flow tolerance is ±3 mm at all points of the pump.\n",
            "The gap is 5 µm wide.\n",
            "It costs £5 and no more.\n",
            "¹ See note. ² ibid.\n",
            "That is a naïve view.\n",
            "La farine de maïs est jaune.\n",
            "Une œuvre de jeunesse.\n",
        ] {
            let (bytes, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(read(&bytes).unwrap(), (text.to_owned(), Some("windows-1252".to_owned())));
        }
    }

    #[test]
    fn short_texts_in_other_encodings_are_not_western() {
        for (text, encoding) in [
            ("// テスト\nint main(){}\n", SHIFT_JIS),
            ("// ソフト, テスト, ポスト\n", SHIFT_JIS),
            ("// 一 word\nint x;\n", BIG5),
            ("Zwierzęta w zoo.\n", WINDOWS_1250),
            ("Tętno pacjenta wynosi 80.\n", WINDOWS_1250),
            ("Specifični zahtjevi: obične postavke, bežična mreža.\n", WINDOWS_1250),
            ("Pomočnik za tiskanje: navpično.\n", WINDOWS_1250),
            ("Dĺžka je 5 m.\n", WINDOWS_1250),
            ("Zmena účtu a hlavičky.\n", WINDOWS_1250),
        ] {
            let (bytes, _, replaced) = encoding.encode(text);
            assert!(!replaced, "{text}");
            // Which of its own encodings a few letters are taken for is the detector's to say.
            assert_ne!(read(&bytes).ok().and_then(|(_, name)| name).as_deref(), Some("windows-1252"), "{text}");
        }
    }

    #[test]
    fn the_escapes_of_japanese_are_known() {
        let text = "水のポンプ and more";
        let (bytes, _, _) = ISO_2022_JP.encode(text);
        assert_eq!(read(&bytes).unwrap(), (text.to_owned(), Some("ISO-2022-JP".to_owned())));
        // Other escapes are text, as they are.
        assert_eq!(read(b"\x1b[1mbold\x1b(B").unwrap(), ("\x1b[1mbold\x1b(B".to_owned(), None));
    }

    #[test]
    fn what_a_page_says_of_itself_counts_where_it_fits() {
        let (bytes, _, _) = ISO_2022_JP.encode("水のポンプ");
        let decoded = decode(Path::new("f"), bytes.to_vec(), Some(ISO_2022_JP)).unwrap();
        assert_eq!((decoded.text.as_str(), decoded.encoding.as_deref()), ("水のポンプ", Some("ISO-2022-JP")));
        let (bytes, _, _) = WINDOWS_1251.encode("Насос");
        assert_eq!(decode(Path::new("f"), bytes.to_vec(), Some(WINDOWS_1251)).unwrap().text, "Насос");
        // A page that claims another encoding but is UTF-8 is taken for UTF-8.
        assert_eq!(decode(Path::new("f"), "Größe".into(), Some(WINDOWS_1252)).unwrap().encoding, None);
    }

    #[test]
    fn surrogates_in_utf8_are_read_as_what_they_stand_for() {
        let is = |text: &str, name: &str| (text.to_owned(), Some(name.to_owned()));
        // A pump: U+1F6B0 as two halves of three bytes.
        assert_eq!(read(b"One \xed\xa0\xbd\xed\xba\xb0 gr\xc3\xbcn").unwrap(), is("One \u{1f6b0} grün", "CESU-8"));
        let one = "CESU-8 (half of a surrogate pair stands alone: replaced by U+FFFD)";
        assert_eq!(read(b"ok \xed\xa0\x80 ok").unwrap(), is("ok \u{fffd} ok", one));
        let two = "CESU-8 (2 halves of surrogate pairs stand alone: replaced by U+FFFD)";
        assert_eq!(read(b"ok \xed\xa0\x80 \xed\xb0\x80").unwrap(), is("ok \u{fffd} \u{fffd}", two));
        assert_eq!(read(b"\xed\xb0\x80\xed\xa0\x80").unwrap(), is("\u{fffd}\u{fffd}", two));
        // Other broken bytes beside them: no such file.
        assert_ne!(read(b"ok \xed\xa0\x80 caf\xe9").ok().and_then(|(_, name)| name), Some("CESU-8".to_owned()));
    }

    #[test]
    fn broken_and_implausible_bytes_are_errors() {
        let mut broken = "Größe, Länge und Höhe".as_bytes().to_vec();
        broken.truncate(broken.len() - 2);
        let cut = broken.len();
        broken.extend(b"\xc3 und Breite");
        assert!(matches!(read(&broken), Err(ReadError::InvalidUtf8 { offset, .. }) if offset == cut));
        assert!(matches!(read(b"\x01\x02\xfe\x80\x03\x04\x9c"), Err(ReadError::InvalidUtf8 { offset: 2, .. })));
        assert!(matches!(read(b"ab\0c"), Err(ReadError::Binary { .. })));
        assert!(matches!(read(b"\x89PNG\r\n\x1a\n"), Err(ReadError::Binary { .. })));
        // Noise without zeros and without the signature of anything.
        let noise: Vec<u8> = (1..4_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
        assert!(matches!(read(&noise), Err(ReadError::InvalidUtf8 { .. })));
    }
}
