//! Segments within segments.

use pericope::api::{Document, SegmentTree};
use pericope::store::Positions;
use pyo3::prelude::*;

/// A segment with the segments in it: `document.text[start:end]`.
#[pyclass(frozen, get_all, module = "pericope")]
pub struct Tree {
    start: usize,
    end: usize,
    score: Option<f64>,
    label: Option<(String, f64)>,
    children: Vec<Py<Tree>>,
}

#[pymethods]
impl Tree {
    fn __repr__(&self) -> String {
        format!("Tree({}:{}, {} children)", self.start, self.end, self.children.len())
    }
}

/// A tree as Python's objects.
pub fn to_python(py: Python<'_>, document: &Document, tree: &SegmentTree) -> PyResult<Py<Tree>> {
    node(py, document, &mut Positions::new(&document.source), tree)
}

/// Parents come before their children, so that positions are asked for in order.
fn node(py: Python<'_>, document: &Document, positions: &mut Positions<'_>, tree: &SegmentTree) -> PyResult<Py<Tree>> {
    let begins = positions.at(tree.span.start);
    let node = Tree {
        start: begins.char,
        end: begins.behind(document.text(tree.span)).char,
        score: tree.score,
        label: tree.label.as_ref().map(|label| (label.name.clone(), label.probability)),
        children: tree
            .children
            .iter()
            .map(|child| self::node(py, document, positions, child))
            .collect::<PyResult<_>>()?,
    };
    Py::new(py, node)
}
