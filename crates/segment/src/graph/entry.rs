use super::GraphTiling;
use super::segmenter::{K, RESOLUTION, RUNS};
use super::similarity::{self, NAMES, PairWeights};
use crate::Resources;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, EMBEDDER, Needs, SegmenterEntry, SettingKey};
use crate::spec::{Spec, SpecError};

const DEFAULT: &str = "embedding";
/// The graph has so many edges for each sentence, and every run of it is kept until all have voted: a spec may come from
/// somebody who asks a server.
const MOST_NEIGHBOURS: usize = 100;
const MOST_RUNS: usize = 1000;

pub(crate) const GRAPH: SegmenterEntry = SegmenterEntry {
    name: "graph",
    summary: "communities in a graph of similar neighbouring sentences, made contiguous (Costacurta)",
    keys: &[
        SettingKey {
            name: "similarity",
            default: DEFAULT,
            doc: "embedding, jaccard, sequence-matcher or bertscore, or several joined by +",
        },
        SettingKey { name: "k", default: "5", doc: "next sentences that each sentence is compared with; at most 100" },
        SettingKey { name: "resolution", default: "1", doc: "the greater, the more segments; 0.001 to 1000" },
        SettingKey {
            name: "runs",
            default: "10",
            doc: "community detections, in different orders, that vote; at most 1000",
        },
        SettingKey { name: "seed", default: "0", doc: "seed of those orders" },
        SettingKey { name: "decay", default: "on", doc: "on or off: weights fall with distance l as exp(-l/2)" },
        EMBEDDER,
    ],
    example: "graph:similarity=jaccard+sequence-matcher,k=5",
    needs: Needs::Encoder,
    needs_of: Some(needs),
    has_scores: true,
    build,
};

fn needs(spec: &Spec) -> Needs {
    let names = spec.get("similarity").unwrap_or(DEFAULT).split('+').map(str::trim);
    let asks = |name: &str| NAMES.iter().any(|&(other, asks)| other == name && asks);
    if names.into_iter().any(asks) { Needs::Encoder } else { Needs::None }
}

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let similarities = similarities(args, resources)?;
    let k = args.count_within("k", K, 1..=MOST_NEIGHBOURS)?;
    let resolution = args.number("resolution", RESOLUTION, 0.001..=1000.0)?;
    let runs = args.count_within("runs", RUNS, 1..=MOST_RUNS)?;
    let seed = args.count("seed", 0, 0)? as u64;
    let decay = args.choice("decay", &["on", "off"])? == 0;
    Ok(BuiltSegmenter::new(GraphTiling { similarities, k, resolution, runs, seed, decay }))
}

fn similarities(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<Vec<Box<dyn PairWeights>>, SpecError> {
    let text = args.text("similarity", DEFAULT);
    let names: Vec<&str> = text.split('+').map(str::trim).collect();
    let known = |name: &str| NAMES.iter().any(|(other, _)| *other == name);
    let repeated = (1..names.len()).any(|i| names[..i].contains(&names[i]));
    if repeated || !names.iter().all(|name| known(name)) {
        let all = NAMES.map(|(name, _)| name).join(", ");
        return Err(args.bad("similarity", text, &format!("{all}, or several of them joined by +")));
    }
    let by_name = |name| similarity::by_name(name, || resources.encoder()).map_err(|reason| args.unavailable(reason));
    names.into_iter().map(by_name).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::GRAPH;
    use crate::spec::Spec;
    use crate::{Standalone, registry};

    fn build(spec: &str) -> Result<crate::Chunker, String> {
        registry::build_from(&[GRAPH], &Spec::parse(spec).unwrap(), &Standalone::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn lexical_similarities_need_no_encoder() {
        for spec in [
            GRAPH.example,
            "graph:similarity=jaccard",
            "graph:similarity=jaccard + sequence-matcher",
            "graph:similarity=jaccard,k=3,resolution=0.5,runs=1,seed=7,decay=off,tau=0.4",
        ] {
            assert!(build(spec).is_ok(), "{spec}");
        }
        for spec in ["graph", "graph:similarity=bertscore", "graph:similarity=jaccard+embedding"] {
            assert!(build(spec).unwrap_err().contains("encoder"), "{spec}");
        }
    }

    #[test]
    fn wrong_values_say_what_would_be_right() {
        for (value, part) in [
            ("similarity=cosine", "sequence-matcher"),
            ("similarity=jaccard+jaccard", "several of them"),
            ("similarity=jaccard+", "several of them"),
            ("similarity=jaccard,k=0", "at least 1"),
            ("similarity=jaccard,k=101", "from 1 to 100"),
            ("similarity=jaccard,runs=0", "at least 1"),
            ("similarity=jaccard,runs=18446744073709551615", "from 1 to 1000"),
            ("similarity=jaccard,resolution=0", "0.001 to 1000"),
            ("similarity=jaccard,decay=yes", "on, off"),
        ] {
            let text = build(&format!("graph:{value}")).unwrap_err();
            assert!(text.contains(part) && !text.contains('\n'), "{value}: {text}");
        }
    }
}
