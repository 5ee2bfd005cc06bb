use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use pericope_net::ureq::Agent;
use pericope_net::ureq::http::StatusCode;
use pericope_net::ureq::http::header::{ACCEPT_ENCODING, RANGE};
use serde::Deserialize;

use super::files::{Progress, Wanted, is_whole};

const ENDPOINT: &str = "https://huggingface.co";
/// A hub that does not answer within this time is taken to be out of reach.
const CONNECT: Duration = Duration::from_secs(5);
/// A transfer that stands still for this long is broken off (and taken up again).
const STALLED: Duration = Duration::from_secs(30);
/// The number of times that a transfer is taken up again.
const RESUMES: usize = 4;

/// The hub: at an address that is given, at `$HF_ENDPOINT`, or its own.
pub(super) struct Hub {
    endpoint: String,
    agent: Agent,
}

/// The files of a repository at one of its states.
pub(super) struct Listing {
    /// The commit.
    pub revision: String,
    /// Its files, with the checksums of those that the hub keeps by their checksum (the large ones).
    pub files: Vec<Wanted>,
}

/// The state that is asked for where none is known.
pub(super) const MAIN: &str = "main";

/// The longest answer about a repository.
const MOST_LISTED: u64 = 16 << 20;

impl Hub {
    pub(super) fn new(endpoint: Option<&str>) -> Self {
        let endpoint = endpoint
            .map(str::to_owned)
            .or_else(|| std::env::var("HF_ENDPOINT").ok().filter(|url| !url.is_empty()))
            .unwrap_or_else(|| ENDPOINT.to_owned());
        Self { endpoint: endpoint.trim_end_matches('/').to_owned(), agent: agent() }
    }

    /// The files of a repository as they are now.
    pub(super) fn list(&self, repository: &str) -> Result<Listing, String> {
        let url = format!("{}/api/models/{repository}/revision/{MAIN}?blobs=true", self.endpoint);
        let about = |reason: String| format!("{url}: {reason}");
        let mut response = self.agent.get(&url).call().map_err(|e| about(e.to_string()))?;
        if response.status() != StatusCode::OK {
            return Err(about(format!("the server answered {}", response.status())));
        }
        let text =
            response.body_mut().with_config().limit(MOST_LISTED).read_to_vec().map_err(|e| about(e.to_string()))?;
        let told: Told = serde_json::from_slice(&text).map_err(|e| about(e.to_string()))?;
        // A commit is written into addresses.
        let is_commit = |sha: &String| !sha.is_empty() && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        let files = told.siblings.into_iter().filter_map(|file| {
            let sha256 = file.lfs.as_ref().and_then(|lfs| lfs.sha256.clone());
            let bytes = file.size.or_else(|| file.lfs.as_ref().and_then(|lfs| lfs.size))?;
            Some(Wanted { name: file.rfilename, bytes, sha256 })
        });
        Ok(Listing { revision: told.sha.filter(is_commit).unwrap_or_else(|| MAIN.to_owned()), files: files.collect() })
    }

    /// Downloads files of a repository at `revision` into `staging`, each as `NAME.part` until it is whole. A part that is
    /// there is continued.
    pub(super) fn fetch(
        &self,
        repository: &str,
        revision: &str,
        files: &[Wanted],
        staging: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), String> {
        progress(Progress::Note(&format!("fetching {repository} from {}", self.endpoint)));
        for file in files {
            let url = format!("{}/{repository}/resolve/{revision}/{}", self.endpoint, file.name);
            fetch_file(&self.agent, &url, file, staging, progress).map_err(|reason| format!("{url}: {reason}"))?;
        }
        Ok(())
    }
}

/// What the hub says of a repository.
#[derive(Deserialize)]
struct Told {
    sha: Option<String>,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

/// A file of it.
#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Lfs>,
}

/// What it says of a file that is kept by its checksum.
#[derive(Deserialize)]
struct Lfs {
    sha256: Option<String>,
    size: Option<u64>,
}

fn agent() -> Agent {
    pericope_net::config()
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(STALLED))
        .timeout_per_read(Some(STALLED))
        .build()
        .new_agent()
}

fn fetch_file(
    agent: &Agent,
    url: &str,
    file: &Wanted,
    staging: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), String> {
    let (part, whole) = (staging.join(format!("{}.part", file.name)), staging.join(&file.name));
    if let Some(folder) = whole.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let mut failures = 0;
    loop {
        let before = std::fs::metadata(&part).map_or(0, |meta| meta.len());
        if before < file.bytes
            && let Err(reason) = transfer(agent, url, file, &part, before, progress)
        {
            let after = std::fs::metadata(&part).map_or(0, |meta| meta.len());
            // Without a byte gained, another try would fail like this one.
            if after <= before || failures == RESUMES {
                return Err(reason);
            }
            failures += 1;
            continue;
        }
        break;
    }
    if is_whole(&part, file).map_err(|e| e.to_string())? {
        return std::fs::rename(&part, &whole).map_err(|e| format!("{}: {e}", whole.display()));
    }
    // Kept, it would be "continued" for ever.
    std::fs::remove_file(&part).map_err(|e| format!("{}: {e}", part.display()))?;
    Err(format!("what came is not the published {} (SHA-256 differs)", file.name))
}

/// Appends to `part`, which has `start` bytes; begins anew where the server sends the whole file.
fn transfer(
    agent: &Agent,
    url: &str,
    file: &Wanted,
    part: &Path,
    start: u64,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), String> {
    // Compression would make ranges count other bytes.
    let mut request = agent.get(url).header(ACCEPT_ENCODING, "identity");
    if start > 0 {
        request = request.header(RANGE, format!("bytes={start}-"));
    }
    let response = request.call().map_err(|e| e.to_string())?;
    let (mut done, mut out) = match response.status() {
        StatusCode::PARTIAL_CONTENT if start > 0 => (start, OpenOptions::new().append(true).open(part)),
        StatusCode::OK => (0, File::create(part)),
        status => return Err(format!("the server answered {status}")),
    };
    let out = out.as_mut().map_err(|e| format!("{}: {e}", part.display()))?;
    // One byte more than expected is enough to know that it is another file.
    let mut body = response.into_body().into_reader().take(file.bytes.saturating_sub(done) + 1);
    let mut buffer = vec![0; 1 << 16];
    while done <= file.bytes {
        let n = body.read(&mut buffer).map_err(|e| format!("after {done} bytes: {e}"))?;
        if n == 0 {
            break;
        }
        out.write_all(buffer.get(..n).unwrap_or_default()).map_err(|e| format!("{}: {e}", part.display()))?;
        done += n as u64;
        progress(Progress::Bytes { file: &file.name, done: done.min(file.bytes), total: file.bytes });
    }
    if done < file.bytes {
        return Err(format!("the connection ended after {done} of {} bytes", file.bytes));
    }
    Ok(())
}
