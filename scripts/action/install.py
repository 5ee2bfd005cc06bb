"""Where the program comes from: it is given, built, or taken from a release."""
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile

import github

#: Bytes of an archive at most.
LARGEST = 1 << 30
TARGETS = {
    ("Linux", "x86_64"): "x86_64-unknown-linux-gnu",
    ("Linux", "aarch64"): "aarch64-unknown-linux-gnu",
    ("Darwin", "arm64"): "aarch64-apple-darwin",
    ("Darwin", "x86_64"): "x86_64-apple-darwin",
    ("Windows", "AMD64"): "x86_64-pc-windows-msvc",
}


def given(path):
    found = shutil.which(path)
    if not found:
        github.fail(f"`binary` is {path!r}, and there is no such program")
    return pathlib.Path(found).resolve()


def build(root):
    command = ["cargo", "build", "--release", "--locked", "-p", "pericope-cli"]
    target = root / "target"
    with github.Quiet():
        done = subprocess.run(command, cwd=root, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, check=False)
    if done.returncode != 0:
        github.fail("cargo could not build the command")
    return target / "release" / ("pericope.exe" if sys.platform == "win32" else "pericope")


def own_version(root):
    """The version of the sources that this action comes with."""
    table = (root / "Cargo.toml").read_text(encoding="utf-8").split("[workspace.package]", 1)[1]
    return re.search(r'^version = "([^"]+)"', table, re.M)[1]


def release(version, folder, token):
    """Takes the archive of a release, checks its checksum, and unpacks the program."""
    version = version.lstrip("v")
    if not re.fullmatch(r"[0-9A-Za-z.+-]{1,40}", version):
        github.fail(f"`version` is {version!r}, which is no version: as 0.1.0, or `build`")
    target = TARGETS.get((platform.system(), platform.machine()))
    if not target:
        github.fail(f"there is no release for {platform.system()} on {platform.machine()}: use `version: build`")
    ending = "zip" if "windows" in target else "tar.gz"
    name = f"pericope-{version}-{target}.{ending}"
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    base = f"{server}/pericope/pericope/releases/download/v{version}"
    sums = get(f"{base}/SHA256SUMS", token).decode("utf-8", "replace")
    wanted = next((line.split()[0] for line in sums.splitlines() if line.split()[1:] in ([name], [f"*{name}"])), None)
    if not wanted:
        github.fail(f"release {version} has no {name}: use `version: build`")
    archive = get(f"{base}/{name}", token)
    if hashlib.sha256(archive).hexdigest() != wanted:
        github.fail(f"{name} does not have the checksum that SHA256SUMS says: it is damaged or was changed")
    program = folder / ("pericope.exe" if ending == "zip" else "pericope")
    program.write_bytes(unpacked(archive, ending, program.name))
    program.chmod(0o755)
    return program


def unpacked(archive, ending, name):
    """The program in the archive; nothing else is unpacked."""
    try:
        if ending == "zip":
            with zipfile.ZipFile(io.BytesIO(archive)) as packed:
                return packed.read(next(one for one in packed.namelist() if one.split("/")[-1] == name))
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
            return packed.extractfile(next(one for one in packed if one.isfile() and one.name.split("/")[-1] == name)).read()
    except (StopIteration, OSError, tarfile.TarError, zipfile.BadZipFile):
        return github.fail(f"the archive holds no {name}")


def get(url, token):
    request = urllib.request.Request(url, headers={"User-Agent": "pericope-action"})
    if token and url.startswith("https://github.com/"):
        # Not passed on to the store that the address leads to.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read(LARGEST)
    except urllib.error.HTTPError as refused:
        return github.fail(f"{url} answered {refused.code}: is there such a release? `version: build` builds from sources")
    except OSError as broken:
        return github.fail(f"{url} could not be fetched: {github.one_line(broken)}")
