//! Stores by their places: a folder, or a collection on a Qdrant server (`qdrant://HOST:PORT/COLLECTION`).

use std::path::Path;

use pericope_index::{IndexError, IndexMeta, IndexReader, IndexWriter};
use pericope_segment::Limits;
use pericope_segment::spec::Spec;
use pericope_store::{Destination, IndexSpec, Retriever, StoreError, StoreMeta};

#[cfg(feature = "qdrant")]
use server::Target;

/// Returns a place as messages name it: never with a key.
///
/// # Errors
/// [`StoreError`] for an address that is wrong.
pub fn name(place: &str) -> Result<String, StoreError> {
    #[cfg(feature = "qdrant")]
    if let Some(target) = server::target(place)? {
        return Ok(target.to_string());
    }
    Ok(place.to_owned())
}

/// Returns whether a place is on a server.
#[must_use]
pub fn is_server(place: &str) -> bool {
    #[cfg(feature = "qdrant")]
    return Target::is_one(place);
    #[cfg(not(feature = "qdrant"))]
    {
        let _ = place;
        false
    }
}

/// Hands what servers have the user wait for, and keys that travel as plain text, to `hear`, from now on and in this
/// whole process; the first call counts. Each text is one line.
pub fn on_notice(hear: fn(&str)) {
    #[cfg(feature = "qdrant")]
    server::on_notice(hear);
    #[cfg(not(feature = "qdrant"))]
    let _ = hear;
}

/// Opens a store to search it.
///
/// # Errors
/// [`StoreError`] where there is none that can be read.
pub fn open(place: &str) -> Result<Box<dyn Retriever>, StoreError> {
    #[cfg(feature = "qdrant")]
    if let Some(target) = server::target(place)? {
        return server::open(&target);
    }
    Ok(Box::new(IndexReader::open(Path::new(place))?))
}

/// Opens a store as [`open`] does, for somebody who waits: a server at whose address nobody listens is given up after two
/// seconds, unless the address says otherwise (`max_refused`).
///
/// # Errors
/// As [`open`].
pub fn open_soon(place: &str) -> Result<Box<dyn Retriever>, StoreError> {
    #[cfg(feature = "qdrant")]
    if let Some(mut target) = server::target(place)? {
        target.settings.max_refused.get_or_insert(std::time::Duration::from_secs(2));
        return server::open(&target);
    }
    open(place)
}

/// Opens or makes a store to write it; with `rebuild` another one takes its place. Commits every `commit_bytes` bytes of
/// text.
///
/// # Errors
/// [`StoreError`] where it cannot be made, or was built with other ingredients than `spec`.
pub fn create(
    place: &str,
    spec: &IndexSpec,
    rebuild: bool,
    commit_bytes: u64,
) -> Result<Box<dyn Destination>, StoreError> {
    #[cfg(feature = "qdrant")]
    if let Some(target) = server::target(place)? {
        return server::create(&target, spec, rebuild, commit_bytes);
    }
    let mut writer = match rebuild {
        true => IndexWriter::rebuild(Path::new(place), spec),
        false => IndexWriter::create_or_open(Path::new(place), spec),
    }?;
    writer.commit_every(commit_bytes);
    Ok(Box::new(writer))
}

/// Returns what the store was built with; none where there is no store yet, or one of another version or damaged: who writes
/// into it hears why.
///
/// # Errors
/// [`StoreError`] where a server cannot be asked, or a file not be read.
pub fn built_with(place: &str) -> Result<Option<StoreMeta>, StoreError> {
    #[cfg(feature = "qdrant")]
    if let Some(target) = server::target(place)? {
        return server::built_with(&target);
    }
    match IndexMeta::read(Path::new(place)) {
        Ok(meta) => Ok(Some(meta.built_with())),
        Err(error @ IndexError::Io { .. }) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Returns the limit of chunks that a store was built with, where its segmenter's spec has one: what goes on with a store keeps it.
#[must_use]
pub fn kept_limits(meta: &StoreMeta) -> Limits {
    let limit = || Spec::parse(&meta.segmenter).ok()?.get("max_tokens")?.parse().ok();
    Limits { max_tokens: limit(), ..Limits::default() }
}

/// The stores of experiments, by the same places.
#[cfg(feature = "eval")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Places;

#[cfg(feature = "eval")]
impl pericope_eval::run::Stores for Places {
    fn create(&self, place: &str, spec: &IndexSpec) -> Result<Box<dyn Destination>, StoreError> {
        /// Bytes of text after which a store is committed.
        const COMMIT_BYTES: u64 = 64 << 20;
        create(place, spec, true, COMMIT_BYTES)
    }

    fn open(&self, place: &str) -> Result<Box<dyn Retriever>, StoreError> {
        open(place)
    }

    #[cfg(feature = "qdrant")]
    fn open_others(&self, place: &str) -> Result<Box<dyn pericope_store::OthersCollection>, StoreError> {
        server::open_others(place)
    }
}

#[cfg(feature = "qdrant")]
mod server {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, OnceLock};

    use pericope_index::{LanguageAnalyzer, analyzer_named};
    pub(super) use pericope_qdrant::Target;
    use pericope_qdrant::{Collection, Error, Listener, Notice, QdrantDestination, QdrantRetriever};
    use pericope_store::{Analyzer, Destination, IndexSpec, Retriever, StoreError, StoreMeta};

    /// The server that a place names; none for a folder.
    pub(super) fn target(place: &str) -> Result<Option<Target>, StoreError> {
        match Target::is_one(place) {
            true => Ok(Some(Target { listener: Listener::new(hear), ..Target::parse(place)? })),
            false => Ok(None),
        }
    }

    static HEARING: OnceLock<fn(&str)> = OnceLock::new();

    pub(super) fn on_notice(hear: fn(&str)) {
        HEARING.get_or_init(|| hear);
    }

    fn hear(notice: &Notice) {
        // A command opens a store more than once.
        static WARNED: AtomicBool = AtomicBool::new(false);
        let again = matches!(notice, Notice::PlainKey { .. }) && WARNED.swap(true, Ordering::Relaxed);
        if let Some(hear) = HEARING.get()
            && !again
        {
            hear(&notice.to_string());
        }
    }

    pub(super) fn open(target: &Target) -> Result<Box<dyn Retriever>, StoreError> {
        let collection = Collection::open(target)?;
        Ok(Box::new(QdrantRetriever::open(target, analyzer_of(&collection))?))
    }

    #[cfg(feature = "eval")]
    pub(super) fn open_others(place: &str) -> Result<Box<dyn pericope_store::OthersCollection>, StoreError> {
        Ok(Box::new(pericope_qdrant::OthersCollection::open(place, Listener::new(hear))?))
    }

    pub(super) fn create(
        target: &Target,
        spec: &IndexSpec,
        rebuild: bool,
        commit_bytes: u64,
    ) -> Result<Box<dyn Destination>, StoreError> {
        let mut spec = spec.clone();
        // What was made goes on as it was made; a rebuild is made anew.
        let analyzer: Arc<dyn Analyzer> = match if rebuild { None } else { existing(target)? } {
            Some(collection) => {
                let analyzer = analyzer_of(&collection);
                let knows_languages = analyzer.name() != pericope_index::ENGLISH_ANALYZER;
                spec.language = spec.language.or_else(|| knows_languages.then(|| collection.record().language()));
                analyzer
            }
            None => {
                spec.language = Some(spec.language.unwrap_or_default());
                Arc::new(LanguageAnalyzer::default())
            }
        };
        Ok(Box::new(QdrantDestination::open(target, &spec, analyzer, rebuild, commit_bytes)?))
    }

    pub(super) fn built_with(target: &Target) -> Result<Option<StoreMeta>, StoreError> {
        Ok(existing(target)?.map(|collection| collection.record().built_with()))
    }

    fn existing(target: &Target) -> Result<Option<Collection>, StoreError> {
        match Collection::open(target) {
            Ok(collection) => Ok(Some(collection)),
            Err(Error::NoCollection { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The analyzer that a collection was built with; of one that names another, today's, which is then refused.
    fn analyzer_of(collection: &Collection) -> Arc<dyn Analyzer> {
        analyzer_named(&collection.record().analyzer).unwrap_or_else(|| Arc::new(LanguageAnalyzer::default()))
    }
}
