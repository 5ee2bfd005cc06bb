use maud::html;
use pericope_eval::data::review::Review;

use crate::kit::{Page, header};

const STYLE: &str = include_str!("review.css");
const SCRIPT: &str = include_str!("review.js");

/// Returns the page of a review. Decisions are kept in the browser while it is open, and saved as a file.
///
/// # Errors
/// Never for a [`Review`]; the serialiser's, in words.
pub fn page(review: &Review) -> Result<String, serde_json::Error> {
    let title = format!("Review of {} – Pericope", review.file);
    let page = Page { title: &title, style: STYLE, script: SCRIPT, data: true, feed: None };
    let facts = pericope_eval::format::plural(review.entries.len(), "question");
    let header = header("Questions to review", &review.file, &facts, &[]);
    let main = html! {
        noscript { "This page needs its script. `pericope dataset validate` reads the file without one." }
        div class="bar" {
            p id="says" class="facts" role="status" aria-live="polite" {}
            div class="switch" {
                label { "Show " select id="which" {} }
                button type="button" id="save" { "Save decisions " kbd { "s" } }
                label class="button" { "Load decisions" input type="file" id="load" accept="application/json" {} }
            }
        }
        div class="work" {
            nav aria-label="Questions" { ol id="list" {} }
            article id="card" tabindex="-1" aria-live="polite" {}
        }
        details class="keys" {
            summary { "Keys" }
            dl class="record" {
                dt { kbd { "j" } " " kbd { "k" } } dd { "next and previous question" }
                dt { kbd { "y" } } dd { "keep, and go on" }
                dt { kbd { "n" } } dd { "drop, and go on" }
                dt { kbd { "e" } } dd { "mend: write the question in other words; Enter takes them, Escape does not" }
                dt { kbd { "u" } } dd { "undo the decision" }
                dt { kbd { "s" } } dd { "save all decisions as a file" }
            }
        }
    };
    let (before, middle, after) = page.parts(&header);
    let data = serde_json::to_string(review)?.replace('<', "\\u003c");
    let main = pericope_util::sound(&main.0).into_owned();
    Ok([before, main, middle, pericope_util::sound(&data).into_owned(), after].concat())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pericope_eval::data::review::Entry;

    #[test]
    fn nothing_that_a_document_says_becomes_markup() {
        let hostile = "</script><script>alert(1)</script><!--";
        let entry = Entry {
            number: 1,
            id: hostile.into(),
            kind: Some("terms".into()),
            document: hostile.into(),
            title: hostile.into(),
            question: hostile.into(),
            before: hostile.into(),
            answer: hostile.into(),
            after: hostile.into(),
            problem: None,
        };
        let review = Review { file: hostile.into(), sha256: "0".repeat(64), entries: vec![entry] };
        let page = page(&review).unwrap();
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert!(!page.contains("<!--") && page.contains("http-equiv=\"Content-Security-Policy\""));
        let (_, data) = page.split_once("id=\"data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["entries"][0]["answer"], hostile);
    }
}
