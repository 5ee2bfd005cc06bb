#!/usr/bin/env python3
"""Called by scripts/ci/release-test with the checkout and a folder of archives."""
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile

TEXTS = {"README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md", "sbom.cdx.json"}


def names(path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist())
    with tarfile.open(path) as archive:
        assert all(member.isfile() and member.uid == 0 and member.mode in (0o644, 0o755) for member in archive)
        return set(archive.getnames())


def binstall(root, target):
    """The address of the archive, and where the program lies in it, as `cargo binstall` works them out."""
    with open(root / "crates/cli/Cargo.toml", "rb") as file:
        package = tomllib.load(file)
    with open(root / "Cargo.toml", "rb") as file:
        shared = tomllib.load(file)["workspace"]["package"]
    described = package["package"]["metadata"]["binstall"]
    described = {**described, **described.get("overrides", {}).get(target, {})}
    words = {"repo": shared["repository"], "version": shared["version"], "target": target, "bin": package["bin"][0]["name"],
             "binary-ext": ".exe" if "windows" in target else ""}

    def filled(text):
        for name, value in words.items():
            text = text.replace("{ " + name + " }", value)
        assert "{" not in text, text
        return text

    return filled(described["pkg-url"]), filled(described["bin-dir"]), described["pkg-fmt"]


def main():
    root, folder = (pathlib.Path(argument) for argument in sys.argv[1:3])
    archives = sorted(path for path in folder.iterdir() if path.suffix != ".sha256")
    assert len(archives) == 2, archives
    for path in archives:
        target = "x86_64-pc-windows-msvc" if path.suffix == ".zip" else "x86_64-unknown-linux-gnu"
        url, program, kind = binstall(root, target)
        assert url.rsplit("/", 1)[1] == path.name, (url, path.name)
        assert kind == {".zip": "zip", ".gz": "tgz"}[path.suffix], kind
        inside = names(path)
        top = program.split("/")[0]
        assert inside == {f"{top}/{text}" for text in TEXTS} | {program}, inside
        # The action asks for the same address.
        sys.path.insert(0, str(root / "scripts/action"))
        import install

        assert target in install.TARGETS.values()
        assert url == f"https://github.com/pericope/pericope/releases/download/v{install.own_version(root)}/{path.name}", url
    content = install.unpacked(archives[-1].read_bytes() if archives[-1].suffix == ".gz" else archives[0].read_bytes(), "tar.gz", "pericope")
    with tempfile.TemporaryDirectory() as at:
        taken = pathlib.Path(at) / "pericope"
        taken.write_bytes(content)
        taken.chmod(0o755)
        subprocess.run([str(taken), "--version"], check=True, stdout=subprocess.DEVNULL)
    print(f"release: {len(archives)} archives hold what they should, at the addresses where they are looked for")


if __name__ == "__main__":
    main()
