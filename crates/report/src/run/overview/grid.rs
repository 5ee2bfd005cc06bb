//! The scores of several runs, by chunker.

use pericope_eval::cell::Setting;
use pericope_eval::format;
use pericope_eval::metric::Metric;

use crate::run::view::View;

/// One metric at one setting for every chunker and run.
pub(super) struct Grid {
    pub metric: Metric,
    pub setting: Setting,
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// The runs whose scores another judge made than the first run's.
    judged_apart: Vec<bool>,
}

impl Grid {
    /// `Token F1 at k = 3, dense`.
    pub(super) fn title(&self) -> String {
        format!("{} at {}, {}", self.metric.title(), self.setting.label(), self.setting.mode)
    }

    /// `71.2 % (+1.3)`: a value and its change against the first run's; scores of another judge have no change.
    pub(super) fn shown(&self, x: Option<f64>, row: &[Option<f64>], i: usize) -> String {
        let Some(x) = x else { return format::ABSENT.to_owned() };
        let unit = self.metric.unit();
        match row.first().copied().flatten() {
            _ if self.judged_apart.get(i).copied().unwrap_or(false) => format!("{} (another judge)", unit.value(x)),
            Some(first) if i > 0 => format!("{} ({})", unit.value(x), unit.difference(x - first)),
            _ => unit.value(x),
        }
    }
}

/// Metrics of answers that runs are compared by: judge, token F1, answer IoU, ROUGE-L.
const OF_ANSWERS: usize = 4;

/// The headline's metric and the chief ones of the answers, at every headline setting of a run: a table each.
pub(super) fn grids(views: &[View]) -> Vec<Grid> {
    let mut wanted: Vec<(Metric, Setting)> = Vec::new();
    for view in views {
        let Some(setting) = &view.setting else { continue };
        let chief = |metric: &&Metric| metric.answer_rank() < Some(OF_ANSWERS);
        for metric in view.metric.iter().chain(view.answer_metrics().into_iter().filter(chief)) {
            if !wanted.iter().any(|(m, s)| m == metric && s == setting) {
                wanted.push((metric.clone(), setting.clone()));
            }
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for row in views.iter().flat_map(|view| &view.summary.chunkers) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    wanted
        .into_iter()
        .map(|(metric, setting)| {
            let rows = names
                .iter()
                .map(|name| {
                    (
                        (*name).to_owned(),
                        views.iter().map(|view| view.value(name, &setting, &metric)).collect::<Vec<_>>(),
                    )
                })
                .filter(|(_, values)| values.iter().any(Option::is_some))
                .collect();
            let judge = |view: &View| view.summary.judges.get(&metric).cloned();
            let first = views.first().and_then(judge);
            let apart = |view: &View| judge(view).zip(first.as_ref()).is_some_and(|(own, first)| own != *first);
            let judged_apart = views.iter().map(apart).collect();
            Grid { metric, setting, rows, judged_apart }
        })
        .collect()
}
