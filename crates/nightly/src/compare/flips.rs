//! The questions behind a difference, with what both nights retrieved for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Compared, Difference};
use crate::gather::ItemLines;
use crate::night::NightlyRun;
use pericope_eval::cell::CellKey;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Gold, ITEMS, Item, ItemReader, ItemSeeker, Retrieved};

/// Questions shown of one difference, and differences shown.
const QUESTIONS: usize = 8;
const GROUPS: usize = 4;
/// Chunks shown of each night.
const CHUNKS: usize = 5;
/// A question flipped where its score moved by at least this, on a scale of 0..1; of smaller moves the largest are shown.
const FLIP: f64 = 0.5;

/// The questions behind one difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionDiffs {
    /// Chunker, mode and setting.
    #[serde(flatten)]
    pub cell: CellKey,
    /// The metric.
    pub metric: Metric,
    /// The earlier night.
    pub against: u32,
    /// Questions whose score fell by at least half the scale.
    pub fell: usize,
    /// Questions whose score rose as much.
    pub rose: usize,
    /// Those that moved most, losses first.
    pub questions: Vec<QuestionDiff>,
}

/// A question that fared differently on two nights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionDiff {
    /// Its id.
    pub question_id: String,
    /// The question.
    pub question: String,
    /// Id of the document that answers it.
    pub document: String,
    /// Whether that document was another on the earlier night.
    pub document_changed: bool,
    /// Its score on the earlier night.
    pub before: f64,
    /// Its score on the later one.
    pub tonight: f64,
    /// The gold answer, where a night's items are there to tell.
    #[serde(skip)]
    pub gold: Option<Gold>,
    /// What the earlier night retrieved; none where its items are not kept any more.
    #[serde(skip)]
    pub side_before: Option<DiffSide>,
    /// What the later night retrieved.
    #[serde(skip)]
    pub side_tonight: Option<DiffSide>,
}

/// What one night retrieved for a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiffSide {
    /// The best chunks.
    pub retrieved: Vec<Retrieved>,
    /// Further ones that are not shown.
    pub more: usize,
}

/// The questions behind these differences, each with the comparison that it is of. Texts are read from the nights' run
/// folders below `dir`; a folder that is gone leaves its side empty. `lines` says where tonight's items stand.
#[must_use]
pub fn flips(
    tonight: &NightlyRun,
    wanted: &[(&Compared, &Difference)],
    dir: &Path,
    lines: Option<&ItemLines>,
) -> Vec<QuestionDiffs> {
    let mut groups: Vec<QuestionDiffs> =
        wanted.iter().take(GROUPS).map(|(compared, difference)| group(tonight, compared, difference)).collect();
    groups.retain(|group| !group.questions.is_empty());
    let mut by_night: BTreeMap<u32, BTreeSet<(CellKey, String)>> = BTreeMap::new();
    for group in &groups {
        for night in [group.against, tonight.number] {
            let keys = group.questions.iter().map(|flip| (group.cell.clone(), flip.question_id.clone()));
            by_night.entry(night).or_default().extend(keys);
        }
    }
    for (night, keys) in by_night {
        let path = run_folder(dir, night).join(ITEMS);
        let found = match lines.filter(|_| night == tonight.number) {
            Some(lines) => items_at(&path, &keys, lines),
            None => items(&path, &keys),
        };
        for group in &mut groups {
            let (is_before, is_tonight) = (group.against == night, tonight.number == night);
            for flip in &mut group.questions {
                let Some(item) = found.get(&(group.cell.clone(), flip.question_id.clone())) else { continue };
                let side = DiffSide {
                    retrieved: item.retrieved.iter().take(CHUNKS).cloned().collect(),
                    more: item.retrieved.len().saturating_sub(CHUNKS),
                };
                if is_before {
                    flip.side_before = Some(side);
                } else if is_tonight {
                    flip.side_tonight = Some(side);
                }
                flip.gold = Some(item.gold.clone());
            }
        }
    }
    groups
}

/// The folder of a night's run: `nights/000031`.
pub(crate) fn run_folder(dir: &Path, number: u32) -> PathBuf {
    dir.join("nights").join(format!("{number:06}"))
}

fn group(tonight: &NightlyRun, compared: &Compared, difference: &Difference) -> QuestionDiffs {
    let scale = difference.metric.scale();
    let mut moved = moves(tonight, compared, difference);
    let flipped = |delta: f64| delta.abs() >= FLIP * scale;
    let fell = moved.iter().filter(|(_, a, b)| flipped(b - a) && b < a).count();
    let rose = moved.iter().filter(|(_, a, b)| flipped(b - a) && b > a).count();
    // Where the mean fell, losses come first, else gains; the widest of each before the others.
    let falling = difference.difference <= 0.0;
    moved.sort_by(|x, y| {
        let (dx, dy) = (x.2 - x.1, y.2 - y.1);
        let wrong_way = |d: f64| (d > 0.0) == falling;
        wrong_way(dx).cmp(&wrong_way(dy)).then(dy.abs().total_cmp(&dx.abs())).then(x.0.cmp(&y.0))
    });
    let questions = moved
        .into_iter()
        .take(QUESTIONS)
        .filter_map(|(place, before, now)| {
            let asked = tonight.questions.get(place)?;
            let sum = |night: &NightlyRun| night.documents.get(&asked.document).cloned();
            Some(QuestionDiff {
                question_id: asked.id.clone(),
                question: asked.text.clone(),
                document: asked.document.clone(),
                document_changed: sum(&compared.before) != sum(tonight),
                before,
                tonight: now,
                gold: None,
                side_before: None,
                side_tonight: None,
            })
        })
        .collect();
    QuestionDiffs {
        cell: difference.cell.clone(),
        metric: difference.metric.clone(),
        against: compared.before.number,
        fell,
        rose,
        questions,
    }
}

/// Questions whose score moved: place in the later night, score before, score tonight.
fn moves(tonight: &NightlyRun, compared: &Compared, difference: &Difference) -> Vec<(usize, f64, f64)> {
    let scores = |night: &NightlyRun| night.cell(&difference.cell)?.scores.get(&difference.metric).cloned();
    let (Some(earlier), Some(later)) = (scores(&compared.before), scores(tonight)) else { return Vec::new() };
    let score = |list: &[Option<f64>], at: usize| list.get(at).copied().flatten();
    (compared.pairing.common.iter())
        .filter_map(|&(then, now)| Some((now, score(&earlier, then)?, score(&later, now)?)))
        .filter(|(_, before, now)| (before - now).abs() > 1e-12)
        .collect()
}

/// What tells an item apart; the rest of a line is not kept.
#[derive(Deserialize)]
struct Name {
    question_id: String,
    #[serde(flatten)]
    key: CellKey,
}

/// The wanted items, from where they stand in the file.
fn items_at(path: &Path, wanted: &BTreeSet<(CellKey, String)>, lines: &ItemLines) -> BTreeMap<(CellKey, String), Item> {
    let Ok(mut file) = ItemSeeker::open(path) else { return BTreeMap::new() };
    let read = |name: &(CellKey, String)| Some((name.clone(), file.at(*lines.get(name)?).ok()?));
    wanted.iter().filter_map(read).collect()
}

/// The wanted items, from a file that is read until all are found.
fn items(path: &Path, wanted: &BTreeSet<(CellKey, String)>) -> BTreeMap<(CellKey, String), Item> {
    let Ok(file) = ItemReader::open_as(path) else { return BTreeMap::new() };
    let mut lines = ItemLines::new();
    // A line that is damaged costs itself alone.
    for (Name { question_id, key }, line) in file.filter_map(Result::ok) {
        let name = (key, question_id);
        if wanted.contains(&name) {
            lines.insert(name, line);
            if lines.len() == wanted.len() {
                break;
            }
        }
    }
    items_at(path, wanted, &lines)
}
