use pericope_api::Span;
use pericope_store::Expand;

use super::Corpus;
use super::cut::Cut;
use super::found::Given;
use crate::answer::{Extractive, Generated};
use crate::cell::Setting;
use crate::data::{CodePoints, Question, Unit};
use crate::metric::Metric;
use crate::metrics::answers::{AnswerScores, Place, answer_iou, cosine};
use crate::metrics::retrieval::{Gold as GoldSpans, Passage, context_tokens};
use crate::record::{Answer, Gold, Item, Metrics, Retrieved, Status};

/// Scores one question's retrieved chunks and answer.
pub(super) struct Scorer<'a> {
    corpus: &'a Corpus,
    /// What the lexical judge's score is called, where it judges.
    lexical_judge: Option<&'static str>,
    /// Whether vectors say how alike two answers are.
    by_vectors: bool,
    /// Where the layout counts in code points: each document's conversion.
    points: Vec<CodePoints<'a>>,
}

impl<'a> Scorer<'a> {
    pub(super) fn new(corpus: &'a Corpus, lexical_judge: Option<&'static str>) -> Self {
        let points = match corpus.set.unit {
            Unit::Bytes => Vec::new(),
            Unit::CodePoints => corpus.documents.iter().map(|d| CodePoints::new(&d.source)).collect(),
        };
        Self { corpus, lexical_judge, by_vectors: true, points }
    }

    /// The same without vectors, where those of texts that have nothing to do with each other are alike.
    pub(super) fn without_vectors(self) -> Self {
        Self { by_vectors: false, ..self }
    }

    /// A span in the unit of the layout.
    fn unit(&self, document: usize, span: Span) -> Span {
        match self.points.get(document) {
            Some(points) => Span::new(points.index(span.start), points.index(span.end)),
            None => span,
        }
    }

    fn passage(&self, document: usize, span: Span, tokens: usize) -> Passage<usize> {
        Passage { document, span: self.unit(document, span), tokens }
    }

    /// What the reader gets of a hit.
    fn given(&self, cut: &Cut, given: &Given) -> Passage<usize> {
        let passage = self.passage(given.hit.document, given.span, given.tokens);
        match &cut.lost {
            // A text that stands in no document is as long as it is, in the same unit.
            Some(lost) if given.hit.document >= self.corpus.documents.len() && !self.points.is_empty() => {
                let end = given.span.start + lost.text(given.span).chars().count();
                Passage { span: Span::new(given.span.start, end), ..passage }
            }
            _ => passage,
        }
    }

    /// The chunks that hold gold of a question, with how much: document, place there, units of gold.
    pub(super) fn graded(&self, question: usize, cut: &Cut) -> Vec<(usize, usize, usize)> {
        let Some(asked) = self.corpus.set.questions.get(question) else { return Vec::new() };
        let gold = self.gold(asked);
        let mut found = Vec::new();
        for document in holders(asked) {
            for (ordinal, chunk) in cut.chunks.get(document).into_iter().flatten().enumerate() {
                let units = gold.units_in(&self.passage(document, chunk.span, chunk.tokens));
                if units > 0 {
                    found.push((document, ordinal, units));
                }
            }
        }
        found
    }

    /// What other tools call a chunk.
    pub(super) fn chunk_id(&self, document: usize, ordinal: usize) -> String {
        let id = self.corpus.documents.get(document).map_or("", |document| document.id.as_str());
        format!("{id}#{ordinal}")
    }

    fn gold(&self, asked: &Question) -> GoldSpans<usize> {
        GoldSpans::new(asked.places().map(|(document, span)| (document, self.unit(document, span))))
    }

    /// One line of `items.jsonl`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn item(
        &self,
        question: usize,
        cut: &Cut,
        setting: &Setting,
        hits: &[Given],
        answer: Option<(Generated, AnswerScores)>,
    ) -> Item {
        let asked = &self.corpus.set.questions[question];
        let gold_document = &self.corpus.documents[asked.document];
        let gold = self.gold(asked);
        let passages: Vec<Passage<usize>> = hits.iter().map(|given| self.given(cut, given)).collect();
        // Chunks of other documents hold no gold, so they change neither omega nor the ideal ranking.
        let holders = holders(asked);
        let around: Vec<Passage<usize>> = (holders.iter())
            .flat_map(|&d| cut.chunks[d].iter().map(move |c| self.passage(d, c.span, c.tokens)))
            .collect();

        let mut metrics = Metrics::new();
        let mut put = |name: &str, value: f64| {
            metrics.insert(Metric::named(name), value);
        };
        let spans = gold.span_scores(&passages);
        put("span_recall", spans.recall);
        put("span_precision", spans.precision);
        put("iou", spans.iou);
        // Both measure against the chunks that could have been found: nobody knows those of a retriever of others, and what
        // is expanded is none of them.
        let all_known = cut.lost.is_none() && cut.expansion.expand == Expand::None;
        if all_known {
            put("precision_omega", gold.precision_omega(&around));
        }
        let ranks = gold.rank_scores(&passages, &around, passages.len().max(setting.cutoff.k().unwrap_or(0)));
        put("hit", ranks.hit);
        put("mrr", ranks.reciprocal_rank);
        if all_known {
            put("ndcg", ranks.ndcg);
        }
        put("document_recall", ranks.document_recall);
        if let Some((_, scores)) = answer.as_ref().filter(|_| !asked.answer.is_empty()) {
            put("token_f1", scores.token_f1);
            put("exact_match", scores.exact_match);
            for (name, value) in
                [("rouge_l", scores.rouge_l), ("answer_iou", scores.answer_iou), ("cosine", scores.cosine)]
            {
                if let Some(value) = value {
                    put(name, value);
                }
            }
            if let Some(name) = self.lexical_judge {
                put(name, scores.judge());
            }
        }
        Item {
            question_id: asked.id.clone(),
            chunker: cut.name.clone(),
            mode: setting.mode.clone(),
            cutoff: setting.cutoff,
            documents: holders.iter().map(|&d| self.corpus.documents[d].id.clone()).collect(),
            question: asked.text.clone(),
            gold: Gold { document: gold_document.id.clone(), spans: asked.gold.clone(), text: asked.answer.clone() },
            retrieved: hits.iter().enumerate().map(|(i, given)| self.retrieved(i + 1, given, cut, &gold)).collect(),
            dropped: answer.as_ref().map_or(0, |(generated, _)| generated.dropped),
            cost: answer.as_ref().and_then(|(generated, _)| generated.cost),
            answer: answer.map(|(generated, _)| self.answered(generated)),
            judgement: None,
            metrics,
            context_tokens: context_tokens(&passages),
            status: Status::Ok,
            error: None,
        }
    }

    /// An item without a result: what was not measured is absent, not 0.
    pub(super) fn failed(&self, question: usize, cut: &Cut, setting: &Setting, problem: String) -> Item {
        let asked = &self.corpus.set.questions[question];
        let document = self.corpus.documents[asked.document].id.clone();
        Item {
            question_id: asked.id.clone(),
            chunker: cut.name.clone(),
            mode: setting.mode.clone(),
            cutoff: setting.cutoff,
            documents: vec![document.clone()],
            question: asked.text.clone(),
            gold: Gold { document, spans: asked.gold.clone(), text: asked.answer.clone() },
            status: Status::Failed,
            error: Some(problem),
            ..Item::default()
        }
    }

    /// An answer against the gold answer of a question; `quotes` says whether it is from someone who answers with places,
    /// `vector` is the embedding of an answer that has none.
    pub(super) fn answer(
        &self,
        question: usize,
        generated: &Generated,
        quotes: bool,
        reader: Option<&Extractive>,
        vector: Option<&[f32]>,
    ) -> AnswerScores {
        let asked = &self.corpus.set.questions[question];
        let gold = asked.gold.iter().copied().reduce(|a, b| a.hull(&b));
        let places = generated.place.zip(gold);
        let iou = match (places, gold) {
            (Some(((document, span), gold)), _) => {
                Some(answer_iou(&Place { document, span }, &Place { document: asked.document, span: gold }))
            }
            // No place although a place is what the generator answers with: nothing was found.
            (None, Some(_)) if quotes && generated.text.is_empty() => Some(0.0),
            _ => None,
        };
        let reader = reader.filter(|_| self.by_vectors);
        let of_gold = reader.and_then(|r| r.mean_vector(asked.document, &asked.gold));
        let likeness = of_gold.map(|gold| {
            let of_place = generated.place.and_then(|(d, span)| reader.and_then(|r| r.mean_vector(d, &[span])));
            of_place.or_else(|| vector.map(<[f32]>::to_vec)).map_or(0.0, |answer| cosine(&answer, &gold))
        });
        AnswerScores::of(&generated.text, &asked.answer, iou, likeness)
    }

    fn retrieved(&self, rank: usize, given: &Given, cut: &Cut, gold: &GoldSpans<usize>) -> Retrieved {
        let chunk = cut.chunk(&given.hit);
        let document = cut.document(&self.corpus.documents, &given.hit);
        let passage = self.given(cut, given);
        let whole = given.hit.run.map_or((chunk.span, chunk.tokens), |run| (run.span, run.tokens));
        Retrieved {
            rank,
            document: document.map_or_else(String::new, |document| document.id.clone()),
            start: given.span.start,
            end: given.span.end,
            score: given.hit.score,
            tokens: given.tokens,
            whole_tokens: (given.span != whole.0).then_some(whole.1),
            chunks: given.hit.run.map(|run| run.chunks),
            heading_path: chunk.heading_path.iter().map(ToString::to_string).collect(),
            gold_share: gold.span_scores(&[passage]).recall,
            text: document.map_or_else(String::new, |document| document.text(given.span).to_owned()),
        }
    }

    fn answered(&self, generated: Generated) -> Answer {
        let place = generated.place;
        Answer {
            text: generated.text,
            document: place.map(|(document, _)| self.corpus.documents[document].id.clone()),
            start: place.map(|(_, span)| span.start),
            end: place.map(|(_, span)| span.end),
        }
    }
}

/// The documents that hold gold of a question, in order.
fn holders(asked: &Question) -> Vec<usize> {
    let mut holders: Vec<usize> = asked.places().map(|(document, _)| document).collect();
    holders.sort_unstable();
    holders.dedup();
    holders
}
