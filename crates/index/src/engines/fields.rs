//! The schema of the full-text index, and those of earlier versions.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use crate::analyzer::{ENGLISH_ANALYZER, SOURCE_ANALYZER, TEXT_ANALYZER};

/// The fields of the schema. The order of `Fields::schema` is part of the format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub document: Field,
    pub ordinal: Field,
    pub start: Field,
    pub end: Field,
    pub heading_path: Field,
    pub title: Field,
    pub text: Field,
    pub tokens: Field,
    pub anchor: Field,
    pub file_type: Field,
    /// The leading whitespace; its name in the index is `lead`.
    pub leading: Field,
    /// What the manifest knows, with a document's first chunk; its name in the index is `origin`.
    pub provenance: Field,
    /// The upper 64 bits of the point id, by which a vector's chunk is found, and the lower 64, which confirm it.
    pub point_high: Field,
    pub point_low: Field,
    /// Likewise the hash of what the encoder read.
    pub encoded_high: Field,
    pub encoded_low: Field,
    /// Line and character of its beginning; nothing in indexes that were made before they were kept.
    pub begins: Option<[Field; 2]>,
    /// The words of what a reader sees of the text; nothing in indexes that were made before, where `text` has those of its
    /// source.
    pub words: Option<Field>,
    /// The language of its document, which also stands before all its words; nothing in indexes that were made before
    /// languages were told apart.
    pub language: Option<Field>,
    /// The headings that a chunk holds beside its path, for the filter alone: what words count is in the other fields. Nothing
    /// in indexes that were made before it was kept.
    pub headings_within: Option<Field>,
}

/// The versions of the schema, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// As the next, and the headings within chunks are kept.
    Within,
    /// Texts have languages, and their words are those that a reader sees, composed.
    Composed,
    /// Texts have languages.
    Languages,
    /// Everything is English, and the places of chunks are kept in lines and characters.
    Lines,
    /// As before, without them.
    Bytes,
}

impl Fields {
    /// The schema of an index, where it is one of Pericope's.
    pub(super) fn of(schema: &Schema) -> Option<Self> {
        let versions = [Version::Within, Version::Composed, Version::Languages, Version::Lines, Version::Bytes];
        let known = versions.map(Self::schema).into_iter();
        known.filter(|(known, _)| known == schema).map(|(_, fields)| fields).next()
    }

    pub(super) fn schema(version: Version) -> (Schema, Self) {
        let mut builder = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(match version {
                Version::Within | Version::Composed => TEXT_ANALYZER,
                Version::Languages => SOURCE_ANALYZER,
                Version::Lines | Version::Bytes => ENGLISH_ANALYZER,
            })
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let searched = TextOptions::default().set_indexing_options(words);
        let words = searched.clone().set_stored();
        let is_composed = matches!(version, Version::Within | Version::Composed);
        let text: TextOptions = if is_composed { STORED.into() } else { words.clone() };
        let fields = Self {
            document: builder.add_text_field("doc_id", STRING | STORED | FAST),
            ordinal: builder.add_u64_field("ordinal", STORED | FAST),
            start: builder.add_u64_field("start", STORED | FAST),
            end: builder.add_u64_field("end", STORED | FAST),
            heading_path: builder.add_text_field("heading_path", words.clone()),
            title: builder.add_text_field("title", words),
            text: builder.add_text_field("text", text),
            tokens: builder.add_u64_field("tokens", STORED | FAST),
            anchor: builder.add_text_field("anchor", STORED),
            file_type: builder.add_text_field("file_type", STRING | STORED),
            leading: builder.add_text_field("lead", STORED),
            provenance: builder.add_text_field("origin", FAST),
            point_high: builder.add_u64_field("point_high", INDEXED | FAST),
            point_low: builder.add_u64_field("point_low", FAST),
            encoded_high: builder.add_u64_field("encoded_high", INDEXED | FAST),
            encoded_low: builder.add_u64_field("encoded_low", FAST),
            begins: (version != Version::Bytes)
                .then(|| ["line", "char"].map(|name| builder.add_u64_field(name, STORED))),
            language: (is_composed || version == Version::Languages)
                .then(|| builder.add_text_field("language", STRING)),
            words: is_composed.then(|| builder.add_text_field("words", searched.clone())),
            headings_within: (version == Version::Within).then(|| builder.add_text_field("headings_within", searched)),
        };
        (builder.build(), fields)
    }

    /// The field that is searched for the words of texts.
    pub fn searched(&self) -> Field {
        self.words.unwrap_or(self.text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_store::{Filter, IndexSpec, Mode, Query, Retriever};
    use pericope_testkit::documents::headed;
    use tantivy::{Index, IndexSettings};

    use super::super::text_files::TextFiles;
    use super::*;
    use crate::meta::IndexMeta;
    use crate::own::text_path;
    use crate::{IndexReader, IndexWriter};

    #[test]
    fn an_index_that_was_made_before_headings_within_chunks_were_kept_goes_on_with_paths() {
        let dir = tempfile::tempdir().unwrap();
        let spec = IndexSpec::new("sentence", "words");
        let mut meta = IndexMeta::new(&spec);
        meta.write(dir.path()).unwrap();
        let text = text_path(dir.path());
        std::fs::create_dir_all(&text).unwrap();
        let schema = Fields::schema(Version::Composed).0;
        drop(Index::create(TextFiles::writing(&text).unwrap(), schema, IndexSettings::default()).unwrap());
        let found = |heading: &str| {
            let reader = IndexReader::open(dir.path()).unwrap();
            let query = Query::new("kestrels", Mode::Bm25, 3).with_filter(Filter::default().heading(heading));
            reader.search(&query).unwrap().len()
        };
        let (document, chunk) = headed("loans.md");
        let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
        writer.add(&document, std::slice::from_ref(&chunk)).unwrap();
        writer.finish().unwrap();
        assert_eq!(["loans", "how long", "fines"].map(found), [1, 0, 0]);
        let mut writer = IndexWriter::rebuild(dir.path(), &spec).unwrap();
        writer.add(&document, std::slice::from_ref(&chunk)).unwrap();
        writer.finish().unwrap();
        assert_eq!(["loans", "how long", "fines"].map(found), [1, 1, 1]);
    }
}
