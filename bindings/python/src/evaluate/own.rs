//! Parts of an experiment that are written in Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use pericope::api;
use pericope::eval::config::{Experiment, ExperimentFile, ExperimentKind, JudgeKind};
use pericope::experiments::Brought;
use pericope::segment::registry::CUSTOM;
use pericope::segment::spec::Spec;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::custom::{Judge, Raised, Retriever, Segmenter};
use crate::errors::usage;

/// Parts of the experiment that are written in Python, and what they raised.
#[derive(Default)]
pub(super) struct Own {
    pub(super) brought: Brought,
    pub(super) segmenters: BTreeMap<String, Arc<dyn api::Segmenter>>,
    raised: Raised,
}

impl Own {
    pub(super) fn of(
        judge: Option<&Bound<'_, PyAny>>,
        retrievers: Option<&Bound<'_, PyMapping>>,
        segmenters: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<Self> {
        let mut own = Self { raised: Raised::of_one_call(), ..Self::default() };
        for (name, segmenter) in named(segmenters)? {
            own.segmenters.insert(name, Arc::new(Segmenter::named(&segmenter, own.raised.clone())?));
        }
        if let Some(judge) = judge {
            own.brought.judge = Some(Arc::new(Judge::new(judge, own.raised.clone())?));
        }
        for (name, retriever) in named(retrievers)? {
            own.brought.retrievers.insert(name, Arc::new(Retriever::new(&retriever, own.raised.clone())?));
        }
        Ok(own)
    }

    /// Refuses parts that experiments of this kind have no place for.
    pub(super) fn check_fit(&self, kind: ExperimentKind, embedder: Option<&str>) -> PyResult<()> {
        let parts = [
            ("judge", self.brought.judge.is_some(), false),
            ("retrievers", !self.brought.retrievers.is_empty(), false),
            ("embedder", embedder.is_some(), kind == ExperimentKind::Classification),
        ];
        match parts.into_iter().find(|(_, given, fits)| kind != ExperimentKind::Retrieval && *given && !fits) {
            Some((part, ..)) => {
                Err(usage(format!("{part} was passed, and experiments on {kind} have no place for it")))
            }
            None => Ok(()),
        }
    }

    /// The configuration with these parts in their places: a segmenter or a retriever that it does not name is one more row.
    pub(super) fn with_parts(&self, file: &ExperimentFile, embedder: Option<&str>) -> PyResult<String> {
        let mut table = file.text.parse::<toml::Table>().map_err(usage)?;
        if self.brought.judge.is_some() {
            let judge = table.entry("judge").or_insert_with(|| toml::Table::new().into());
            judge.as_table_mut().map(|judge| judge.insert("kind".into(), "custom".into()));
        }
        if let Some(name) = embedder {
            match file.kind {
                ExperimentKind::Classification => _ = table.insert("embedder".into(), name.into()),
                _ => {
                    let retrieval = table.entry("retrieval").or_insert_with(|| toml::Table::new().into());
                    retrieval.as_table_mut().map(|retrieval| retrieval.insert("embedder".into(), name.into()));
                }
            }
        }
        let rows = if file.kind == ExperimentKind::Segmentation { "segmenter" } else { "chunker" };
        for name in self.segmenters.keys() {
            add_row(&mut table, rows, name, &custom(name)?);
        }
        for name in self.brought.retrievers.keys() {
            add_row(&mut table, "retriever", name, "custom");
        }
        toml::to_string(&table).map_err(usage)
    }

    /// Checks that nothing of what was passed in is left unused: keys that are set, and a row of the same name, could put something
    /// else in its place.
    pub(super) fn check_used(&self, experiment: &Experiment, embedder: Option<&str>) -> PyResult<()> {
        if self.brought.judge.is_some() && experiment.judge.kind != JudgeKind::Custom {
            return Err(usage("judge.kind was set, and a judge was passed: leave one out"));
        }
        if embedder.is_some_and(|name| experiment.retrieval.embedder != name) {
            return Err(usage("retrieval.embedder was set, and an embedder was passed: leave one out"));
        }
        self.check_cut(experiment.chunkers.iter().map(|chunker| &chunker.spec))?;
        let rows = experiment.all_retrievers();
        let is_asked = |name: &String| rows.iter().any(|row| row.name == *name && row.is_custom());
        match self.brought.retrievers.keys().find(|name| !is_asked(name)) {
            Some(name) => Err(usage(format!(
                "retriever '{name}' was passed, and the configuration does not ask it: it has another one of that name, or `set` replaced it"
            ))),
            None => Ok(()),
        }
    }

    /// As [`Own::check_used`], of the segmenters alone.
    pub(super) fn check_cut<'s>(&self, specs: impl Iterator<Item = &'s Spec> + Clone) -> PyResult<()> {
        let asks = |name: &String, spec: &Spec| spec.name == CUSTOM.name && spec.get("name") == Some(name);
        match self.segmenters.keys().find(|name| !specs.clone().any(|spec| asks(name, spec))) {
            Some(name) => Err(usage(format!(
                "segmenter '{name}' was passed, and the configuration does not ask it: it has another row of that name, or `set` replaced it"
            ))),
            None => Ok(()),
        }
    }

    /// What a run gave, or what was raised meanwhile: a document that cannot be cut does not end a run, an exception does.
    pub(super) fn or_raised<T>(&self, done: PyResult<T>) -> PyResult<T> {
        let done = done.map_err(|error| self.raised.or(error));
        self.raised.first().map_or(done, Err)
    }
}

/// The entries of a mapping, none where there is no mapping.
fn named<'py>(parts: Option<&Bound<'py, PyMapping>>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    parts.map_or_else(|| Ok(Vec::new()), |parts| parts.items()?.extract())
}

/// The spec of a segmenter that is passed in under a name.
fn custom(name: &str) -> PyResult<String> {
    let spec = Spec::new(CUSTOM.name).and_then(|spec| spec.with("name", name));
    Ok(spec.map_err(usage)?.to_string())
}

/// Adds a row to a list of tables, where none has its name. A value that is no list is refused when it is parsed.
fn add_row(table: &mut toml::Table, list: &str, name: &str, spec: &str) {
    let rows = table.entry(list).or_insert_with(|| toml::Value::Array(Vec::new()));
    let Some(rows) = rows.as_array_mut() else { return };
    if !rows.iter().any(|row| row.get("name").and_then(toml::Value::as_str) == Some(name)) {
        let row = [("name", name), ("spec", spec)].map(|(key, value)| (key.to_owned(), toml::Value::from(value)));
        rows.push(toml::Table::from_iter(row).into());
    }
}
