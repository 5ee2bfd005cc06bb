use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use pericope_qdrant::{Bm25, Collection, Error, Point, Record, ScoredChunk, Target};
use pericope_store::{ChunkRecord, EmbedderMeta, Position, Shard};
use pericope_testkit::qdrant::Server;
use uuid::Uuid;

pub const DIMENSION: usize = 8;

/// All documents.
pub const WHOLE: Shard = Shard { number: 1, of: 1 };

/// Where a test's collection is; it is gone when the test is over.
pub struct Place {
    pub server: Option<Server>,
    url: String,
}

impl Place {
    /// The server of `PERICOPE_QDRANT_URL`, or one in memory.
    pub fn any() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        match std::env::var("PERICOPE_QDRANT_URL") {
            Ok(base) if !base.is_empty() => {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let started = std::time::UNIX_EPOCH.elapsed().unwrap().as_micros();
                let name = format!("pericope-test-{}-{started}-{number}", std::process::id());
                Self { server: None, url: format!("{}/{name}", base.trim_end_matches('/')) }
            }
            _ => Self::in_memory(),
        }
    }

    pub fn in_memory() -> Self {
        let server = Server::start().unwrap();
        Self { url: server.url("docs"), server: Some(server) }
    }

    pub fn server(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn target(&self) -> Target {
        Target::parse(&self.url).unwrap()
    }

    /// With one more setting.
    pub fn target_with(&self, key: &str, value: &str) -> Target {
        let mut target = self.target();
        target.settings.set(key, value).unwrap();
        target
    }

    pub fn open(&self) -> Collection {
        Collection::open_or_create(&self.target(), &record()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.server.is_none() {
            for name in 1..6 {
                let target = Target::parse(&format!("{}-{name}", self.url)).unwrap();
                let gone = match Collection::open(&target) {
                    Err(Error::NoCollection { .. }) => Ok(()),
                    opened => opened.and_then(Collection::delete),
                };
                if let Err(error) = gone {
                    // A test that has failed is unwinding already.
                    eprintln!("left behind: {}-{name}: {error}", self.url);
                }
            }
        }
    }
}

pub fn record() -> Record {
    let mut record = Record::new("sentence", "words", "words-1");
    record.embedder = Some(EmbedderMeta {
        name: "bag".into(),
        fingerprint: "f00".into(),
        dimension: DIMENSION,
        prefix_headings: false,
        late_chunking: false,
    });
    record.mean_words = 6.0;
    record
}

pub fn words(text: &str, each: &mut dyn FnMut(&str)) {
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        each(&word.to_lowercase());
    }
}

/// A bag of words in few dimensions, with a bit of place so that no two texts are quite alike.
pub fn vector(text: &str) -> Vec<f32> {
    let mut vector = [0.05_f32; DIMENSION];
    let mut place = 1.0;
    words(text, &mut |word| {
        let hash = pericope_qdrant::term_index(word) as usize;
        vector[hash % DIMENSION] += 1.0 + 0.01 * place;
        vector[hash / DIMENSION % DIMENSION] += 0.3;
        place += 1.0;
    });
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

/// The chunks of a document: one a text.
pub fn points(document: &str, revision: &str, texts: &[String]) -> Vec<Point> {
    let mut start = 0;
    let bm25 = Bm25::new(6.0);
    let make = |(ordinal, text): (usize, &String)| {
        let end = start + text.len();
        let chunk = ChunkRecord {
            document: document.to_owned(),
            start,
            end,
            heading_path: vec!["Guide".into(), format!("Part {}", ordinal / 2).into()],
            text: text.clone(),
            title: Some(format!("About {document}")),
            anchor: Some(format!("part-{}", ordinal / 2)),
            file_type: String::new(),
            ordinal,
            tokens: text.split_whitespace().count(),
            leading: if ordinal > 0 { " ".to_owned() } else { String::new() },
            begins: Some(Position { line: 1, char: start }),
            context: None,
            ..ChunkRecord::default()
        };
        let point = Point {
            id: Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{document}\u{1}{start}\u{1}{text}").as_bytes()),
            chunk,
            headings: Vec::new(),
            revision: revision.to_owned(),
            chunks: texts.len() as u64,
            origin: Some("a test".to_owned()),
            vector: Some(vector(text)),
            sparse: bm25.chunk(text, &words),
        };
        start = end + 1;
        point
    };
    texts.iter().enumerate().map(make).collect()
}

/// Documents with three to six chunks of four to nine words each, the same every time.
pub fn corpus(documents: usize) -> BTreeMap<String, Vec<String>> {
    const WORDS: &[&str] = &[
        "moon", "tide", "sea", "harbour", "rye", "dough", "oven", "bread", "river", "stone", "bridge", "lamp", "wind",
        "sail", "rope", "anchor", "salt", "fish", "net", "boat", "shore", "sand", "wave", "storm", "cloud", "rain",
    ];
    let mut state = 0x9e37_79b9_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut all = BTreeMap::new();
    for i in 0..documents {
        let folder = ["guide", "guide/use", "reference"][i % 3];
        let ending = ["md", "html"][i % 2];
        let mut texts = Vec::new();
        for _ in 0..3 + next(4) {
            let text: Vec<&str> = (0..4 + next(6)).map(|_| WORDS[next(WORDS.len())]).collect();
            texts.push(text.join(" "));
        }
        all.insert(format!("{folder}/doc-{i}.{ending}"), texts);
    }
    all
}

/// Loads what is not there in revision `r1`, as the command line does, and removes what is gone.
pub fn load(
    target: &Target,
    corpus: &BTreeMap<String, Vec<String>>,
    shard: Shard,
) -> Result<Collection, pericope_qdrant::Error> {
    let collection = Collection::open_or_create(target, &record())?;
    let stored = collection.documents()?;
    let mut writer = collection.writer();
    for (document, texts) in corpus.iter().filter(|(document, _)| shard.holds(document)) {
        if stored.get(document).is_none_or(|stored| !stored.is("r1")) {
            writer.replace(document, "r1", points(document, "r1", texts))?;
        }
    }
    for gone in stored.keys().filter(|document| shard.holds(document) && !corpus.contains_key(*document)) {
        writer.remove(gone)?;
    }
    writer.flush()?;
    Ok(collection)
}

/// All that the collection holds, through its own interface.
pub fn contents(collection: &Collection) -> Vec<ScoredChunk> {
    let documents = collection.documents().unwrap();
    documents.keys().flat_map(|document| collection.chunks_of(document).unwrap()).collect()
}

/// What it should hold.
pub fn expected(corpus: &BTreeMap<String, Vec<String>>, revision: &str) -> Vec<ScoredChunk> {
    let all = corpus.iter().flat_map(|(document, texts)| points(document, revision, texts));
    all.map(|mut point| {
        point.chunk.file_type = pericope_store::file_type_of(&point.chunk.document);
        ScoredChunk { id: point.id, score: 0.0, revision: point.revision, chunk: point.chunk }
    })
    .collect()
}
