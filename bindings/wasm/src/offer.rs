use pericope_read::{Reader, text_formats};
use pericope_segment::Standalone;
use pericope_segment::registry::{self, Needs, POLICY_KEYS, SegmenterEntry, SettingKey};
use pericope_segment::spec::Spec;
use serde::Serialize;

/// What a page lets people choose from.
#[derive(Debug, Serialize)]
pub struct Offer {
    pub version: &'static str,
    pub formats: Vec<&'static str>,
    pub segmenters: Vec<Choice>,
}

/// A segmenter that reads with no model.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// The shortest spec of it that reads with no model.
    pub spec: &'static str,
    pub summary: &'static str,
    /// Its settings, and those of its size policy.
    pub settings: Vec<Setting>,
}

/// A setting of a segmenter.
#[derive(Debug, Serialize)]
pub struct Setting {
    pub name: &'static str,
    pub default: &'static str,
    pub doc: &'static str,
}

/// Returns the formats that hold nothing but text, and the segmenters that read with no model.
pub fn offer() -> Offer {
    Offer {
        version: env!("CARGO_PKG_VERSION"),
        formats: text_formats().map(Reader::name).collect(),
        segmenters: registry::list().iter().filter_map(choice).collect(),
    }
}

fn choice(entry: &'static SegmenterEntry) -> Option<Choice> {
    let spec = [entry.name, entry.example].into_iter().find(|spec| is_complete(spec))?;
    let policy = POLICY_KEYS.iter().filter(|key| entry.has_scores || key.name != "tau");
    let setting = |key: &SettingKey| Setting { name: key.name, default: key.default, doc: key.doc };
    Some(Choice { spec, summary: entry.summary, settings: entry.keys.iter().chain(policy).map(setting).collect() })
}

/// Whether the spec builds a segmenter without a model and without anything else.
fn is_complete(spec: &str) -> bool {
    let alone = |spec: &Spec| registry::build(spec, &Standalone::default()).is_ok();
    Spec::parse(spec).is_ok_and(|spec| registry::needs(registry::list(), &spec) == Needs::None && alone(&spec))
}
