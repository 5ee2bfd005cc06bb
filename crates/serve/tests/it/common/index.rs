use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use pericope::api::{Embeddings, EncodeError, SentenceEncoder};
use pericope::read::{ReadOptions, read_text};
use pericope::store::RunSummary;
use pericope::stores;
use pericope::{Engine, EngineError};
use pericope_serve::service::{AddressRules, NamedPlace, Service, ServiceOptions};
use pericope_testkit::encoders::BagOfWords;

/// The folder of the index.
pub const INDEX: &str = "docs.idx";

const PAGES: &[(&str, &str, &str)] = &[
    (
        "guide/tides.md",
        "markdown",
        "# Tides\n\nThe moon pulls the sea twice a day.\n\n## Spring tides\n\nSpring tides come with the full moon.\n\n\
         ## Neap tides\n\nNeap tides come with the half moon. They are the smallest tides of all.\n",
    ),
    (
        "guide/bread.md",
        "markdown",
        "# Bread\n\nA starter keeps for a week in the cold.\n\n## Errors\n\nToo much salt slows the dough.\n",
    ),
    (
        "api/errors.html",
        "html",
        "<html><head><title>Errors</title></head><body><h1 id=\"errors\">Errors</h1><p>Token expired: sign in again &amp; \
         retry.</p><p>The moon has no token.</p></body></html>",
    ),
    (
        "hostile/a\"><script>alert(1)<.md",
        "markdown",
        "# <script>alert('title')</script>\n\nA poisoned moon: `<img src=x onerror=alert(2)>` & \"quotes\".\n",
    ),
    ("notes/ümlaut.txt", "plain", "Über dem Moor steht der Mond.\nZweite Zeile mit Ebbe und Flut.\nDritte Zeile.\n"),
];

/// An index of a few pages, with vectors of a bag of words, in `docs.idx` of a new folder.
pub fn make_index() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    make_index_with(folder.path(), PAGES, false);
    folder
}

/// Adds pages to the index in a folder, or makes it anew.
pub fn make_index_with(folder: &Path, pages: &[(&str, &str, &str)], rebuild: bool) {
    let engine = Engine::new().with_tokenizer("words");
    let chunker = engine.chunker("structure:max_tokens=40").unwrap();
    let spec = engine.index_spec(&chunker, Some(BagOfWords::new())).unwrap();
    let place = folder.join(INDEX);
    let mut writer = stores::create(place.to_str().unwrap(), &spec, rebuild, 1 << 30).unwrap();
    for (id, format, text) in pages {
        let document = read_text(id, format, *text, &ReadOptions::default()).unwrap();
        writer.add(&document, &chunker.chunks(&document).unwrap()).unwrap();
    }
    writer.finish(&RunSummary::default()).unwrap();
}

pub fn service_over(folder: &Path, addresses: AddressRules, encoder: Option<Arc<dyn SentenceEncoder>>) -> Service {
    let place = NamedPlace::parse(folder.join(INDEX).to_str().unwrap()).unwrap();
    let encoder = encoder.unwrap_or_else(|| BagOfWords::new());
    let options = ServiceOptions {
        encoders: Arc::new(move |name| match name {
            "bag-of-words" => Ok(Some(Arc::clone(&encoder))),
            other => Err(EngineError::Usage(format!("no embedder {other} in this test"))),
        }),
        addresses,
        ..ServiceOptions::default()
    };
    Service::open(vec![place], options).unwrap()
}

/// Embeds as a bag of words does; a text with the word `wait` waits until it is let go.
pub struct Blocking {
    inner: Arc<BagOfWords>,
    entered: Mutex<Sender<()>>,
    go: Mutex<Receiver<()>>,
}

/// The other side: sees what waits, and lets it go.
pub struct Blocks {
    entered: Receiver<()>,
    go: Sender<()>,
}

impl Blocking {
    pub fn pair() -> (Arc<dyn SentenceEncoder>, Blocks) {
        let ((entered, seen), (go, let_go)) = (channel(), channel());
        let blocking = Self { inner: BagOfWords::new(), entered: Mutex::new(entered), go: Mutex::new(let_go) };
        (Arc::new(blocking), Blocks { entered: seen, go })
    }
}

impl Blocks {
    /// Waits until a query waits in the encoder.
    pub fn entered(&self) {
        self.entered.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    }

    /// Lets one query go.
    pub fn let_go(&self) {
        self.go.send(()).unwrap();
    }
}

impl SentenceEncoder for Blocking {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn fingerprint(&self) -> String {
        self.inner.fingerprint()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn max_tokens(&self) -> usize {
        self.inner.max_tokens()
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        if texts.iter().any(|text| text.contains("wait")) {
            self.entered.lock().unwrap().send(()).unwrap();
            // The end of the test lets everything go.
            let _ = self.go.lock().unwrap().recv();
        }
        self.inner.encode(texts)
    }
}
