//! The encoding that a page says it has.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// The length in bytes of the part of a page that is searched for it, as in browsers.
const HEAD: usize = 1024;

/// The encoding of a `meta` element or an XML declaration at the top of a page.
pub(super) fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: String = bytes.iter().take(HEAD).map(|&b| char::from(b).to_ascii_lowercase()).collect();
    let xml = head.trim_start().strip_prefix("<?xml").and_then(|xml| xml.split("?>").next());
    let named = |text: &str, name: &str| {
        let value = text.split_once(name)?.1.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let len = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '>' | ';' | '/' | '?'));
        Encoding::for_label(&value.as_bytes()[..len.unwrap_or(value.len())])
    };
    let meta = || head.split("<meta").skip(1).find_map(|meta| named(meta.split('>').next()?, "charset"));
    let found = xml.and_then(|xml| named(xml, "encoding")).or_else(meta)?;
    // What could read the declaration is no UTF-16.
    Some(if found == UTF_16LE || found == UTF_16BE { UTF_8 } else { found })
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn declarations() {
        let name = |page: &str| declared(page.as_bytes()).map(encoding_rs::Encoding::name);
        assert_eq!(name("<html><META charset=\"Shift_JIS\">"), Some("Shift_JIS"));
        let equiv = "<meta http-equiv=content-type content='text/html; charset=iso-8859-1'>";
        assert_eq!(name(equiv), Some("windows-1252"));
        assert_eq!(name("<?xml version='1.0' encoding='koi8-r'?><html>"), Some("KOI8-R"));
        assert_eq!(name("<meta charset=utf-16>"), Some("UTF-8"));
        assert_eq!(name("<meta charset=unheard><p>charset=koi8-r"), None);
        assert_eq!(name("<meta name=charset>"), None);
    }
}
