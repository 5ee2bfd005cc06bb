//! Markdown: CommonMark with GitHub's tables, task lists, footnotes and alerts; front matter; HTML and JSX tolerated.
//! MDX: the same, with its imports, exports, tags and comments taken for markup.

mod attributes;
mod blocks;
mod braces;
mod mdx;
mod reader;

pub(super) use reader::{Markdown, Mdx};

#[cfg(test)]
mod tests;
