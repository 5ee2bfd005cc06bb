use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use pericope_api::Heading;
use pericope_store::{ChunkRecord, Language, Position, Provenance};
use tantivy::columnar::StrColumn;
use tantivy::schema::{Field, IndexRecordOption, Value};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    DocAddress, DocSet, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TERMINATED,
    TantivyDocument, TantivyError, Term,
};
use uuid::Uuid;

use super::failures::Failures;
use super::fields::{Fields, Version};
use super::text_files::TextFiles;
use crate::IndexError;
use crate::analyzer::{
    ENGLISH_ANALYZER, HintedTokenizer, Rules, SOURCE_ANALYZER, TEXT_ANALYZER, text_analyzer, without_hint,
};
use crate::guard::error_of_text;
use crate::manifest::Indexed;
use crate::vectors::GenerationId;

/// What the chunks of a document say of it.
#[derive(Default)]
struct Gathered {
    /// By their place in the document.
    chunks: Vec<(u64, Uuid)>,
    provenance: Option<Provenance>,
}

/// The full-text index as readers see it: at its last commit.
pub(crate) struct TextIndex {
    pub path: PathBuf,
    pub fields: Fields,
    /// What could not be written.
    pub(super) failures: Failures,
    index: Index,
    reader: IndexReader,
}

/// What the last commit says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Committed {
    /// The number of the commit; 0 before the first.
    pub sequence: u64,
    /// The vectors that belong to it.
    pub vectors: Option<GenerationId>,
}

impl Committed {
    /// In the form that the engine keeps with the commit.
    pub fn payload(self) -> String {
        match self.vectors {
            Some(vectors) => format!("{} {vectors}", self.sequence),
            None => self.sequence.to_string(),
        }
    }

    /// What the newest commit of the index in `path` says of itself.
    fn of(path: &Path, index: &Index) -> Result<Self, IndexError> {
        match index.load_metas()?.payload {
            None => Ok(Self::default()),
            Some(payload) => Self::parse(&payload)
                .ok_or_else(|| IndexError::corrupt(&path.join("meta.json"), "the number of its commit is missing")),
        }
    }

    fn parse(payload: &str) -> Option<Self> {
        let (sequence, vectors) = match payload.split_once(' ') {
            Some((sequence, vectors)) => (sequence, Some(vectors.parse().ok()?)),
            None => (payload, None),
        };
        Some(Self { sequence: sequence.parse().ok()?, vectors })
    }
}

impl TextIndex {
    /// Opens the index in `path` to write it, or makes it for words by the analyzer of that name.
    pub fn open_or_create(path: &Path, analyzer: &str) -> Result<Self, IndexError> {
        std::fs::create_dir_all(path).map_err(IndexError::io(path))?;
        let files = TextFiles::writing(path).map_err(TantivyError::from)?;
        let failures = files.failures();
        let index = match Index::exists(&files).map_err(TantivyError::from)? {
            true => Index::open(files)?,
            false => {
                let version = match analyzer {
                    ENGLISH_ANALYZER => Version::Lines,
                    SOURCE_ANALYZER => Version::Languages,
                    _ => Version::Within,
                };
                Index::create(files, Fields::schema(version).0, IndexSettings::default())?
            }
        };
        Self::over(path, index, failures)
    }

    /// Opens the index in `path`, which must be there, to read it.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        let files = TextFiles::reading(path).map_err(TantivyError::from)?;
        let failures = files.failures();
        let index = Index::open(files)?;
        Self::over(path, index, failures)
    }

    fn over(path: &Path, index: Index, failures: Failures) -> Result<Self, IndexError> {
        let foreign = || IndexError::corrupt(path, "its schema is not Pericope's");
        let fields = Fields::of(&index.schema()).ok_or_else(foreign)?;
        index.tokenizers().register(ENGLISH_ANALYZER, text_analyzer());
        for (name, rules) in [(SOURCE_ANALYZER, Rules::Source), (TEXT_ANALYZER, Rules::Stored)] {
            index.tokenizers().register(name, TextAnalyzer::from(HintedTokenizer::by(rules)));
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { path: path.to_owned(), fields, failures, index, reader })
    }

    /// The writer; there can be one at a time.
    pub fn writer(&self, threads: usize, heap_bytes: usize) -> Result<IndexWriter, IndexError> {
        Ok(self.index.writer_with_num_threads(threads, heap_bytes)?)
    }

    /// The commit that was looked at last.
    pub fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Looks at the newest commit from now on.
    pub fn reload(&self) -> Result<(), IndexError> {
        Ok(self.reader.reload()?)
    }

    /// What the newest commit says of itself.
    pub fn committed(&self) -> Result<Committed, IndexError> {
        Committed::of(&self.path, &self.index)
    }

    /// Reads all files of the newest commit of the index in `path` and checks them, each by itself: what the commit says of
    /// itself, and what is wrong with which file.
    pub fn verify(path: &Path) -> Result<(Committed, Vec<IndexError>), IndexError> {
        let files = TextFiles::reading(path).map_err(TantivyError::from)?;
        let index = Index::open(files.clone())?;
        let mut damaged = Vec::new();
        for segment in index.searchable_segment_metas()? {
            for file in segment.list_files() {
                let deletions = file.extension().is_some_and(|ending| ending == "del");
                if deletions && !segment.has_deletes() {
                    continue;
                }
                if let Err(error) = files.verify(&file) {
                    damaged.push(error_of_text(path, TantivyError::from(error)));
                }
            }
        }
        Ok((Committed::of(path, &index)?, damaged))
    }

    /// Number of documents: of chunks that are their document's first.
    pub fn documents(&self, searcher: &Searcher) -> Result<u64, IndexError> {
        let mut documents = 0;
        for segment in searcher.segment_readers() {
            let ordinals = segment.fast_fields().u64("ordinal")?;
            documents += segment.doc_ids_alive().filter(|&doc| ordinals.first(doc) == Some(0)).count() as u64;
        }
        Ok(documents)
    }

    /// The ids of the documents, sorted.
    pub fn document_ids(&self, searcher: &Searcher) -> Result<Vec<String>, IndexError> {
        let mut ids = Vec::new();
        for segment in searcher.segment_readers() {
            let fast = segment.fast_fields();
            let (ordinals, Some(column)) = (fast.u64("ordinal")?, fast.str("doc_id")?) else { continue };
            for doc in segment.doc_ids_alive().filter(|&doc| ordinals.first(doc) == Some(0)) {
                for ord in column.term_ords(doc) {
                    let mut id = String::new();
                    column.ord_to_str(ord, &mut id).map_err(tantivy::TantivyError::from)?;
                    ids.push(id);
                }
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// The languages of the chunks, in their order: those in which a query is read. English where there is no chunk, and in
    /// indexes that do not tell languages apart.
    pub fn languages(&self, searcher: &Searcher) -> Result<Vec<Language>, IndexError> {
        let Some(field) = self.fields.language else { return Ok(vec![Language::English]) };
        let mut found = BTreeSet::new();
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(field)?;
            let mut codes = inverted.terms().stream().map_err(IndexError::io(&self.path))?;
            while codes.advance() {
                let code = std::str::from_utf8(codes.key()).ok();
                let Some(language) = code.and_then(|code| code.parse::<Language>().ok()) else { continue };
                if found.contains(&language) {
                    continue;
                }
                // The code of a language stays until its deleted chunks are merged away.
                let Some(alive) = segment.alive_bitset() else {
                    found.insert(language);
                    continue;
                };
                let mut postings = inverted
                    .read_postings_from_terminfo(codes.value(), IndexRecordOption::Basic)
                    .map_err(IndexError::io(&self.path))?;
                while postings.doc() != TERMINATED && !alive.is_alive(postings.doc()) {
                    postings.advance();
                }
                if postings.doc() != TERMINATED {
                    found.insert(language);
                }
            }
        }
        if found.is_empty() {
            found.insert(Language::English);
        }
        Ok(found.into_iter().collect())
    }

    /// The ids of a document's chunks.
    pub fn points_of(&self, searcher: &Searcher, document: &str) -> Result<Vec<Uuid>, IndexError> {
        let mut points = Vec::new();
        if searcher.num_docs() == 0 {
            return Ok(points);
        }
        let term = Term::from_field_text(self.fields.document, document);
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.document)?;
            let Some(mut postings) =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(IndexError::io(&self.path))?
            else {
                continue;
            };
            let (high, low) = (segment.fast_fields().u64("point_high")?, segment.fast_fields().u64("point_low")?);
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    let (high, low) = (high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0));
                    points.push(Uuid::from_u64_pair(high, low));
                }
                postings.advance();
            }
        }
        Ok(points)
    }

    /// Where those chunks of a document are whose places are wanted.
    pub fn addresses_of(
        &self,
        searcher: &Searcher,
        document: &str,
        wanted: &RangeInclusive<usize>,
    ) -> Result<Vec<DocAddress>, IndexError> {
        let term = Term::from_field_text(self.fields.document, document);
        let mut addresses = Vec::new();
        for (ord, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(self.fields.document)?;
            let postings =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(IndexError::io(&self.path))?;
            let Some(mut postings) = postings else { continue };
            let ordinals = segment.fast_fields().u64("ordinal")?;
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                postings.advance();
                let ordinal = usize::try_from(ordinals.first(doc).unwrap_or(0)).unwrap_or(usize::MAX);
                if wanted.contains(&ordinal) && segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    addresses.push(DocAddress::new(ord, doc));
                }
            }
        }
        Ok(addresses)
    }

    /// The ids of all chunks.
    pub fn all_points(&self, searcher: &Searcher) -> Result<std::collections::HashSet<Uuid>, IndexError> {
        let mut points = std::collections::HashSet::with_capacity(usize::try_from(searcher.num_docs()).unwrap_or(0));
        for segment in searcher.segment_readers() {
            let (high, low) = (segment.fast_fields().u64("point_high")?, segment.fast_fields().u64("point_low")?);
            for doc in segment.doc_ids_alive() {
                points.insert(Uuid::from_u64_pair(high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0)));
            }
        }
        Ok(points)
    }

    /// Where the chunk with this point id is.
    pub fn address_of(&self, searcher: &Searcher, point: Uuid) -> Result<Option<DocAddress>, IndexError> {
        self.first_with(searcher, point.as_u64_pair(), self.fields.point_high, "point_low")
    }

    /// The point of some chunk of which the encoder read a text with this hash.
    pub fn point_with_text(&self, searcher: &Searcher, hash: u128) -> Result<Option<Uuid>, IndexError> {
        let key = Uuid::from_u128(hash).as_u64_pair();
        let Some(address) = self.first_with(searcher, key, self.fields.encoded_high, "encoded_low")? else {
            return Ok(None);
        };
        self.point_of(searcher, address).map(Some)
    }

    /// The first chunk whose number of 128 bits is this one: its upper half is indexed, its lower half a column.
    fn first_with(
        &self,
        searcher: &Searcher,
        (wanted_high, wanted_low): (u64, u64),
        high: Field,
        low: &str,
    ) -> Result<Option<DocAddress>, IndexError> {
        let term = Term::from_field_u64(high, wanted_high);
        for (ord, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(high)?;
            let Some(mut postings) =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(IndexError::io(&self.path))?
            else {
                continue;
            };
            let low = segment.fast_fields().u64(low)?;
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                if low.first(doc) == Some(wanted_low) && segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
                {
                    return Ok(Some(DocAddress::new(ord, doc)));
                }
                postings.advance();
            }
        }
        Ok(None)
    }

    /// Every document with its chunks in order, and where it came from.
    pub fn indexed(&self, searcher: &Searcher) -> Result<Vec<Indexed>, IndexError> {
        let mut found: BTreeMap<String, Gathered> = BTreeMap::new();
        for segment in searcher.segment_readers() {
            let fast = segment.fast_fields();
            let (ordinals, Some(ids)) = (fast.u64("ordinal")?, fast.str("doc_id")?) else { continue };
            let (high, low, origins) = (fast.u64("point_high")?, fast.u64("point_low")?, fast.str("origin")?);
            let text = |column: &StrColumn, doc| -> Result<Option<String>, IndexError> {
                let Some(ord) = column.term_ords(doc).next() else { return Ok(None) };
                let mut text = String::new();
                column.ord_to_str(ord, &mut text).map_err(tantivy::TantivyError::from)?;
                Ok(Some(text))
            };
            for doc in segment.doc_ids_alive() {
                let entry = found.entry(text(&ids, doc)?.unwrap_or_default()).or_default();
                let point = Uuid::from_u64_pair(high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0));
                entry.chunks.push((ordinals.first(doc).unwrap_or(0), point));
                if let Some(origins) = &origins
                    && let Some(line) = text(origins, doc)?
                {
                    entry.provenance = Provenance::decode(&line);
                }
            }
        }
        let indexed = found.into_iter().map(|(id, mut found)| {
            found.chunks.sort_unstable();
            Indexed {
                id,
                provenance: found.provenance,
                chunks: found.chunks.into_iter().map(|(_, point)| point).collect(),
            }
        });
        Ok(indexed.collect())
    }

    /// Reads the stored fields of a chunk.
    pub fn record(&self, searcher: &Searcher, address: DocAddress) -> Result<ChunkRecord, IndexError> {
        let stored: TantivyDocument = searcher.doc(address)?;
        let string = |field| stored.get_first(field).and_then(|v| v.as_str()).map(str::to_owned);
        let number = |field| {
            let value = stored.get_first(field).and_then(|v| v.as_u64());
            usize::try_from(value.unwrap_or(0)).unwrap_or(usize::MAX)
        };
        let fields = self.fields;
        // In the schema of today every text stands behind its language.
        let worded = |text: String| match fields.language {
            Some(_) => without_hint(&text).1.to_owned(),
            None => text,
        };
        let text = string(fields.text).unwrap_or_default();
        let language = fields.language.map_or(Language::English, |_| without_hint(&text).0);
        let strings = |field| stored.get_all(field).filter_map(|v| v.as_str()).map(|text| worded(text.to_owned()));
        Ok(ChunkRecord {
            document: string(fields.document).unwrap_or_default(),
            start: number(fields.start),
            end: number(fields.end),
            heading_path: strings(fields.heading_path).map(Heading::from).collect(),
            context: strings(fields.text).nth(1),
            text: worded(text),
            language,
            title: strings(fields.title).next(),
            anchor: string(fields.anchor),
            file_type: string(fields.file_type).unwrap_or_default(),
            ordinal: number(fields.ordinal),
            tokens: number(fields.tokens),
            leading: string(fields.leading).unwrap_or_default(),
            begins: fields.begins.map(|[line, char]| Position { line: number(line), char: number(char) }),
            ends: None,
        })
    }

    /// In how many chunks a term occurs.
    pub fn frequency(&self, searcher: &Searcher, term: &Term) -> u64 {
        searcher.doc_freq(term).unwrap_or(0)
    }
}
