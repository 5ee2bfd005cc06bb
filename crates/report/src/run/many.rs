//! Several runs side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::html::facts;
use super::markdown::{escaped, table as markdown_table};
use super::view::View;
use super::{Report, headline};
use crate::kit::markup::Markup;
use crate::kit::section;
use crate::kit::shell::document;
use crate::kit::table::{Head, Row, Value, table};
use pericope_eval::cell::Setting;
use pericope_eval::format;
use pericope_eval::metric::Metric;

/// Keys of the configuration that are listed where runs differ.
const KEYS: usize = 200;

/// One metric at one setting for every chunker and run.
struct Grid {
    metric: Metric,
    setting: Setting,
    rows: Vec<(String, Vec<Option<f64>>)>,
}

/// The overview page; `folders[i]` holds the report of run `i`.
pub(super) fn page(reports: &[Report], folders: &[String]) -> String {
    let views: Vec<View> = reports.iter().map(|r| View::new(&r.summary)).collect();
    document("Runs side by side – Pericope", |m| {
        m.element("header", &[("class", "top")], |m| {
            m.leaf("p", &[("class", "eyebrow")], "Pericope · chunkers compared by retrieval");
            m.leaf("h1", &[], &format!("{} side by side", format::plural(reports.len(), "run")));
        });
        m.element("main", &[("id", "main")], |m| {
            let cautions = cautions(reports);
            if !cautions.is_empty() {
                m.element("div", &[("class", "warnings"), ("role", "note"), ("aria-label", "Warnings")], |m| {
                    m.leaf("h2", &[], "Before you compare");
                    m.element("ul", &[], |m| cautions.iter().for_each(|text| m.leaf("li", &[], text)));
                });
            }
            section(m, "runs", "The runs", |m| runs(m, reports, folders, &views));
            section(m, "scores", "Scores", |m| scores(m, reports, &views));
            section(m, "configuration", "What differs in the configuration", |m| {
                configuration(m, reports);
            });
        });
    })
}

fn runs(m: &mut Markup, reports: &[Report], folders: &[String], views: &[View]) {
    m.element("ul", &[("class", "runs")], |m| {
        for ((report, folder), view) in reports.iter().zip(folders).zip(views) {
            m.element("li", &[], |m| {
                m.element("h3", &[], |m| {
                    m.leaf("a", &[("href", &format!("{folder}/index.html"))], report.title());
                });
                let mut about = vec![
                    format::plural(report.summary.questions, "question"),
                    format::plural(report.summary.documents, "document"),
                ];
                about.extend(
                    facts(&report.run).into_iter().filter(|(n, _)| ["Version", "Started"].contains(n)).map(|f| f.1),
                );
                m.leaf("p", &[("class", "facts")], &about.join(" · "));
                m.leaf("p", &[], &headline::headline(view));
            });
            m.line();
        }
    });
}

fn scores(m: &mut Markup, reports: &[Report], views: &[View]) {
    let grids = grids(views);
    if grids.is_empty() {
        m.leaf("p", &[], "Nothing was scored.");
        return;
    }
    m.element("p", &[("class", "prose")], |m| {
        m.text("In brackets, what changed against the first run. These changes are not tested for chance; ");
        m.leaf("code", &[], "pericope nightly");
        m.text(" pairs runs by question.");
    });
    for grid in grids {
        let caption = format!("{} at {}, {}", grid.metric.title(), grid.setting.label(), grid.setting.mode);
        let mut heads = vec![Head::words("chunker")];
        heads.extend(reports.iter().map(|r| Head::number(r.title())));
        let rows: Vec<Row> = grid
            .rows
            .iter()
            .map(|(name, values)| Row {
                head: name.clone(),
                place: None,
                values: values.iter().enumerate().map(|(i, x)| value(&grid.metric, *x, values, i)).collect(),
                opens: false,
                data: Vec::new(),
            })
            .collect();
        table(m, &caption, &heads, &rows);
    }
}

fn value(metric: &Metric, x: Option<f64>, row: &[Option<f64>], i: usize) -> Value {
    Value::number(shown(metric, x, row, i), x.unwrap_or(f64::NAN))
}

/// `71.2 % (+1.3)`: a value and its change against the first run's.
fn shown(metric: &Metric, x: Option<f64>, row: &[Option<f64>], i: usize) -> String {
    let Some(x) = x else { return format::ABSENT.to_owned() };
    match row.first().copied().flatten() {
        Some(first) if i > 0 => format!("{} ({})", metric.unit().value(x), metric.unit().difference(x - first)),
        _ => metric.unit().value(x),
    }
}

/// The headline's metric and that of the answers, at every headline setting of a run: a table each.
fn grids(views: &[View]) -> Vec<Grid> {
    let mut wanted: Vec<(Metric, Setting)> = Vec::new();
    for view in views {
        let Some(setting) = &view.setting else { continue };
        for metric in view.metric.iter().chain(view.answer_metric()) {
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
            Grid { metric, setting, rows }
        })
        .collect()
}

/// Why the figures of these runs may not be comparable.
fn cautions(reports: &[Report]) -> Vec<String> {
    let mut found = Vec::new();
    let differ = |of: &dyn Fn(&Report) -> String| reports.iter().map(of).collect::<BTreeSet<String>>().len() > 1;
    if differ(&|r| format!("{:?}", r.run.checksums.data)) {
        found.push("The runs did not read the same data: their figures cannot be compared directly.".to_owned());
    } else if differ(&|r| format!("{} {}", r.summary.questions, r.summary.documents)) {
        found.push(
            "The runs did not ask the same number of questions over the same number of documents: their figures cannot \
             be compared directly."
                .to_owned(),
        );
    } else if differ(&|r| format!("{:?}", r.run.seeds)) {
        found.push("The runs were drawn with different seeds, so their questions may differ.".to_owned());
    }
    if differ(&|r| format!("{:?}", r.run.checksums.models)) {
        found.push("The runs did not use the same models.".to_owned());
    }
    if differ(&|r| format!("{:?}", r.run.checksums.prompts)) {
        found.push("The runs did not use the same prompts.".to_owned());
    }
    if differ(&|r| r.run.version.clone()) {
        found.push("The runs come from different versions of the program.".to_owned());
    }
    found
}

fn configuration(m: &mut Markup, reports: &[Report]) {
    let rows = differing(reports);
    if rows.is_empty() {
        m.leaf("p", &[], "Nothing: the runs have the same configuration.");
        return;
    }
    let mut heads = vec![Head::words("key")];
    heads.extend(reports.iter().map(|r| Head::words(r.title())));
    let rows: Vec<Row> = rows
        .into_iter()
        .map(|(key, values)| Row {
            head: key,
            place: None,
            values: values.into_iter().map(|v| Value::words(format::clipped(&v, 120))).collect(),
            opens: false,
            data: Vec::new(),
        })
        .collect();
    m.element("div", &[("class", "checksums")], |m| table(m, "Keys on which the runs differ", &heads, &rows));
}

/// Keys (`retrieval.k`, `chunker.semantic.spec`) whose values are not the same in all runs.
fn differing(reports: &[Report]) -> Vec<(String, Vec<String>)> {
    let flat: Vec<BTreeMap<String, String>> = reports
        .iter()
        .map(|r| {
            let mut keys = BTreeMap::new();
            flatten("", &r.run.config, &mut keys);
            keys
        })
        .collect();
    let keys: BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    let value =
        |of: &BTreeMap<String, String>, key: &String| of.get(key).map_or(format::ABSENT, String::as_str).to_owned();
    keys.into_iter()
        .map(|key| (key.clone(), flat.iter().map(|of| value(of, key)).collect::<Vec<_>>()))
        .filter(|(_, values)| values.iter().any(|v| Some(v) != values.first()))
        .take(KEYS)
        .collect()
}

/// Nested keys joined by points. Lists of tables that have names (chunkers) go by those, other lists stay whole.
fn flatten(prefix: &str, value: &Json, into: &mut BTreeMap<String, String>) {
    let under = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    let name = |entry: &Json| entry.get("name").and_then(Json::as_str).map(str::to_owned);
    match value {
        Json::Object(map) => map.iter().for_each(|(key, value)| flatten(&under(key), value, into)),
        Json::Array(list) if !list.is_empty() && list.iter().all(|entry| name(entry).is_some()) => {
            for entry in list {
                flatten(&under(&name(entry).unwrap_or_default()), entry, into);
            }
        }
        Json::Null => {}
        Json::String(text) => drop(into.insert(prefix.to_owned(), text.clone())),
        other => drop(into.insert(prefix.to_owned(), other.to_string())),
    }
}

/// The overview as Markdown.
pub(super) fn markdown(reports: &[Report], folders: &[String]) -> String {
    let views: Vec<View> = reports.iter().map(|r| View::new(&r.summary)).collect();
    let mut out = format!("# {} side by side\n\n", format::plural(reports.len(), "run"));
    for ((report, folder), view) in reports.iter().zip(folders).zip(&views) {
        let title = escaped(report.title());
        out.push_str(&format!("- [{title}]({folder}/summary.md): {}\n", escaped(&headline::headline(view))));
    }
    out.push('\n');
    for caution in cautions(reports) {
        out.push_str(&format!("> {}\n\n", escaped(&caution)));
    }
    for grid in grids(&views) {
        out.push_str(&format!(
            "## {} at {}, {}\n\n",
            grid.metric.title(),
            grid.setting.label(),
            escaped(&grid.setting.mode)
        ));
        let mut head = vec!["chunker".to_owned()];
        head.extend(reports.iter().map(|r| r.title().to_owned()));
        let rows: Vec<Vec<String>> = grid
            .rows
            .iter()
            .map(|(name, values)| {
                let cells = values.iter().enumerate().map(|(i, x)| shown(&grid.metric, *x, values, i));
                std::iter::once(name.clone()).chain(cells).collect()
            })
            .collect();
        markdown_table(&mut out, 1, &head, &rows);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{cautions, differing};
    use crate::run::Report;
    use serde_json::json;

    fn run(config: serde_json::Value, data: &str) -> Report {
        let mut report = Report::default();
        report.run.config = config;
        report.run.checksums.data.insert("d.json".into(), data.into());
        report
    }

    #[test]
    fn differing_keys_are_found_by_name() {
        let a = json!({"retrieval": {"k": [1, 3]}, "chunker": [{"name": "x", "spec": "window"}], "seed": 7});
        let b = json!({"retrieval": {"k": [1]}, "chunker": [{"name": "y", "spec": "window"}], "seed": 7});
        let keys: Vec<String> = differing(&[run(a, "1"), run(b, "1")]).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["chunker.x.name", "chunker.x.spec", "chunker.y.name", "chunker.y.spec", "retrieval.k"]);
    }

    #[test]
    fn runs_over_other_data_are_called_out() {
        let (a, b) = (run(json!({}), "1"), run(json!({}), "2"));
        assert!(cautions(&[a.clone(), a.clone()]).is_empty());
        assert!(cautions(&[a, b]).join(" ").contains("not read the same data"));
    }
}
