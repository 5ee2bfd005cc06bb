//! reStructuredText, as docutils reads it, with what Sphinx adds. Directives that nobody knows show their content.

mod blocks;
mod classes;
mod directives;
mod explicit;
mod ids;
mod inline;
mod lists;
mod reader;
mod roles;
mod substitutions;
mod tables;
mod titles;

pub(super) use ids::make_id;
pub(super) use reader::Rst;

#[cfg(test)]
mod tests;
