//! What somebody says in Chinese and Japanese, and who says it.

/// So many characters has what follows a quote and says who said it, at most.
const SAID: usize = 14;
/// How it ends in Chinese, in no order.
const SAYS: &[&str] = &[
    "说", "說", "问", "問", "答", "喊", "叫", "嚷", "说道", "說道", "问道", "問道", "答道", "喊道", "叫道", "笑道",
    "叹道", "嘆道", "他道", "她道",
];
/// What ends like it, and says nothing.
const SAYS_NOT: &[&str] = &[
    "小说", "小說", "听说", "聽說", "据说", "據說", "传说", "傳說", "学说", "學說", "访问", "訪問", "顾问", "顧問",
    "学问", "學問", "疑问", "疑問",
];

/// True where the sentence goes on behind a closing quote of Chinese or Japanese: 「行こう。」と言った。 “好的。”她说。
pub(super) fn goes_on_behind_quote(after: &str) -> bool {
    if after.starts_with("って") || after.starts_with('を') {
        return true;
    }
    if let Some(rest) = after.strip_prefix('と') {
        // Not ところで, とても, とにかく: a particle is followed by a word in Kanji or by one of a few others.
        return !rest.starts_with(|c: char| ('\u{3041}'..='\u{3096}').contains(&c))
            || rest.starts_with(['い', 'だ', 'の', 'か', 'お', 'さ']);
    }
    let mut clause = after.char_indices().take(SAID);
    let Some((end, mark)) = clause.find(|&(_, c)| !c.is_alphanumeric()) else { return false };
    let said = &after[..end];
    matches!(mark, '。' | '，')
        && SAYS.iter().any(|verb| said.ends_with(verb))
        && !SAYS_NOT.iter().any(|word| said.ends_with(word))
        && !said.ends_with("的回答")
}
