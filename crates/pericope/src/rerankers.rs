//! Rerankers by their specs: those that run here, and services over HTTP.

use std::sync::{Arc, OnceLock};

use pericope_api::Reranker;
use pericope_encode::rerankers::{RerankerEntry, RerankerSpec, build_from};

use crate::EngineError;

/// Returns the rerankers that specs may name: `none`, those that run here, and with the feature `llm` the services that
/// speak the API of Cohere, Jina and Text Embeddings Inference.
#[must_use]
pub fn rerankers() -> &'static [RerankerEntry] {
    static ALL: OnceLock<Vec<RerankerEntry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let all = pericope_learn::registry::rerankers().to_vec();
        #[cfg(feature = "llm")]
        let all = [all, vec![service::HTTP]].concat();
        all
    })
}

/// The reranker of a spec; `None` for `none`.
pub(crate) fn reranker(spec: &str) -> Result<Option<Arc<dyn Reranker>>, EngineError> {
    let spec = RerankerSpec::parse(spec).map_err(EngineError::usage)?;
    build_from(rerankers(), &spec).map_err(EngineError::usage)
}

#[cfg(feature = "llm")]
mod service {
    use std::sync::Arc;
    use std::time::Duration;

    use pericope_encode::rerankers::{ADDRESS, BuiltReranker, RerankerArgs, RerankerEntry};
    use pericope_llm::{HttpReranker, RerankForm, RerankService};
    use pericope_segment::registry::SettingKey;

    /// Seconds that a request may take where nothing is said.
    const TIME: f64 = 30.0;

    pub(super) const HTTP: RerankerEntry = RerankerEntry {
        name: ADDRESS.0,
        summary: "a service that speaks the rerank API of Cohere (v2), Jina, vLLM or Text Embeddings Inference: the spec is \
                  its address, https://HOST/PATH",
        keys: &[
            SettingKey { name: ADDRESS.1, default: "", doc: "the address; it stands first without this key" },
            SettingKey { name: "model", default: "", doc: "the model, where the service has several" },
            SettingKey { name: "key_env", default: "", doc: "the environment variable that holds the key" },
            SettingKey {
                name: "form",
                default: "",
                doc: "documents (Cohere, Jina, vLLM; the default with a model) or texts (TEI; the default without)",
            },
            SettingKey {
                name: "batch",
                default: "",
                doc: "passages of a request at most, 1000 by default, and 32 with form=texts",
            },
            SettingKey { name: "time", default: "30", doc: "seconds that a request may take" },
            SettingKey { name: "retries", default: "2", doc: "requests after one that failed" },
        ],
        example: "https://api.cohere.com/v2/rerank,model=rerank-v3.5,key_env=COHERE_API_KEY",
        sends: true,
        weights: |_| None,
        build,
    };

    fn build(args: &RerankerArgs<'_>) -> BuiltReranker {
        let url = args.get(ADDRESS.1).ok_or_else(|| {
            args.unavailable("the address is missing: the spec is https://HOST/PATH,key=value".to_owned())
        })?;
        let model = args.get("model");
        let form = args.get("form");
        let form = RerankForm::of(form, model)
            .ok_or_else(|| args.bad("form", form.unwrap_or_default(), "documents or texts"))?;
        let retries = args.maybe_count("retries", 0)?.unwrap_or(2);
        let service = RerankService {
            url,
            model,
            key_env: args.get("key_env"),
            form,
            batch: args.maybe_count("batch", 1)?.unwrap_or(form.usual_batch()),
            timeout: Duration::from_secs_f64(args.number("time", TIME, 0.001..=3600.0)?),
            retries: u32::try_from(retries).unwrap_or(u32::MAX),
        };
        let reranker = HttpReranker::new(&service).map_err(|e| args.unavailable(e.to_string()))?;
        Ok(Some(Arc::new(reranker)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_encode::rerankers::{RerankerSpec, check_in};

    use super::{reranker, rerankers};

    #[test]
    fn the_table_lists_what_there_is_once() {
        let names: Vec<&str> = rerankers().iter().map(|entry| entry.name).collect();
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
        assert_eq!(names.first(), Some(&"none"));
        for entry in rerankers() {
            let spec = RerankerSpec::parse(entry.example).unwrap();
            assert_eq!(check_in(rerankers(), &spec).unwrap().name, entry.name);
            assert!(!entry.summary.ends_with('.') && !entry.summary.contains('\n'), "{}", entry.name);
        }
    }

    #[test]
    fn specs_give_rerankers_or_say_why_not() {
        assert!(reranker("none").unwrap().is_none());
        for (spec, fingerprint) in [
            ("https://h/v2/rerank,model=m", "http:https://h/v2/rerank:m:Documents"),
            ("http://127.0.0.1:8080/rerank", "http:http://127.0.0.1:8080/rerank::Texts"),
            ("http://h/rerank,form=documents,batch=7,time=2.5,retries=0", "http:http://h/rerank::Documents"),
        ] {
            assert_eq!(reranker(spec).unwrap().unwrap().fingerprint(), fingerprint);
        }
        for (wrong, says) in [
            ("bge", "there is no reranker `bge`; known: none, cross-encoder, "),
            ("bge", ", http://..., https://..."),
            ("https://h/r,mode=x", "no setting `mode` (did you mean `model`?)"),
            ("https://h/r,form=list", "form=list: expected documents or texts"),
            ("https://h/r,batch=0", "batch=0: expected a whole number of at least 1"),
            ("https://h/r,time=0", "time=0: expected a number from 0.001 to 3600"),
            ("https://h/r?k=hush,key_env=NO_SUCH_KEY_HERE", "NO_SUCH_KEY_HERE is not set"),
            ("http:model=x", "the address is missing"),
            ("weswin:model=none-such.safetensors", "none-such.safetensors"),
        ] {
            let text = reranker(wrong).err().unwrap().to_string();
            assert!(text.contains(says) && !text.contains("hush") && !text.contains('\n'), "{wrong}: {text}");
        }
    }
}
