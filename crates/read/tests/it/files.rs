//! Files and folders, good and bad.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};

use pericope_read::{
    ReadError, ReadOptions, WalkOptions, check_globs, document_id, document_path, find, read_bytes, read_each,
    read_path, walk,
};

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn error(path: &Path) -> ReadError {
    read_path(path, &ReadOptions::default()).unwrap_err()
}

/// Paths below `folder`, a mark before those that are errors.
fn names(folder: &Path, options: &WalkOptions) -> Vec<String> {
    let name = |path: &Path| document_id(path.strip_prefix(folder).unwrap());
    walk(&[folder], options)
        .iter()
        .map(|item| match item {
            Ok(path) => name(path),
            Err(error) => format!("!{}", name(error.path().unwrap())),
        })
        .collect()
}

#[test]
fn good_files() {
    let folder = tempfile::tempdir().unwrap();
    let read = |path: PathBuf| read_path(path, &ReadOptions::default()).unwrap();
    let documents = read(write(folder.path(), "a.MD", "# T\n\nOne. Two."));
    assert_eq!((documents.len(), documents[0].len(), documents[0].title.as_deref()), (1, 3, Some("T")));
    assert_eq!(documents[0].id, document_id(folder.path().join("a.MD")));
    assert_eq!(read(write(folder.path(), "b.html", "<p>x")).len(), 1);
    assert_eq!(read(write(folder.path(), "c.jsonl", "{\"id\":1,\"text\":\"x\"}\n{\"id\":2,\"text\":\"y\"}")).len(), 2);
    assert_eq!(read(write(folder.path(), "README", "Plain. Text."))[0].len(), 2);
    assert_eq!(read(write(folder.path(), "LLMS.txt", "# T\n\nx"))[0].title.as_deref(), Some("T"));
    assert_eq!(read(write(folder.path(), "notes.txt", "# T\n\nx"))[0].title, None);
    let markdown = ReadOptions { format: Some("md".into()), ..ReadOptions::default() };
    let page = write(folder.path(), "page", "# T");
    assert_eq!(read_path(&page, &markdown).unwrap()[0].title.as_deref(), Some("T"));
}

#[test]
fn bad_files_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert!(matches!(error(&at.join("none.md")), ReadError::NotFound { .. }));
    assert!(matches!(error(at), ReadError::NotAFile { .. }));
    for empty in ["", " \n\t", "\u{feff}\n"] {
        assert!(matches!(error(&write(at, "empty.md", empty)), ReadError::Empty { .. }));
    }
    let bad = error(&write(at, "broken.txt", b"caf\xc3\xa9 cr\xc3\xa8me br\xfbl\xc3\xa9e"));
    assert!(matches!(bad, ReadError::InvalidUtf8 { offset: 15, .. }), "{bad}");
    assert!(bad.to_string().contains("broken.txt") && bad.to_string().contains("byte 15"), "{bad}");
    assert!(matches!(error(&write(at, "image.md", b"\x89PNG\r\n\x1a\n")), ReadError::Binary { .. }));
    let zero = error(&write(at, "blob.bin", b"ab\0c"));
    assert!(zero.to_string().contains("blob.bin: not text but binary data (byte 2 is zero)"), "{zero}");
    // What begins with other data is not read to its end: 64 GB of zeros would not fit into memory.
    let image = at.join("disk.img");
    std::fs::File::create(&image).unwrap().set_len(64 << 30).unwrap();
    assert!(matches!(error(&image), ReadError::Binary { .. }));
    let small = ReadOptions { max_bytes: 3, ..ReadOptions::default() };
    let long = write(at, "long.txt", "four");
    assert!(matches!(read_path(&long, &small), Err(ReadError::TooLarge { bytes: 4, limit: 3, .. })));
    let huge = ReadOptions { max_bytes: u64::MAX, ..ReadOptions::default() };
    assert_eq!(&*read_path(&long, &huge).unwrap()[0].source, "four");
    let strict = ReadOptions { unknown_as_plain: false, ..ReadOptions::default() };
    let unknown = write(at, "x.conf", "a = b");
    assert!(matches!(read_path(&unknown, &strict), Err(ReadError::UnknownExtension { .. })));
    let format = ReadOptions { format: Some("word".into()), ..ReadOptions::default() };
    let message = read_path(&long, &format).unwrap_err().to_string();
    assert!(message.contains("\"word\"") && message.contains("markdown"), "{message}");
}

#[test]
fn other_encodings_are_decoded_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let read = |path: PathBuf| read_path(path, &ReadOptions::default()).unwrap().remove(0);
    let latin = read(write(at, "latin.txt", b"caf\xe9 au lait. Deux caf\xe9s."));
    assert_eq!((&*latin.source, latin.encoding.as_deref()), ("café au lait. Deux cafés.", Some("windows-1252")));
    assert_eq!((latin.len(), latin.check()), (2, Ok(())));
    let page = read(write(at, "p.html", b"<meta charset=koi8-r><p>\xee\xc1\xd3\xcf\xd3."));
    assert_eq!((page.encoding.as_deref(), page.source.contains("Насос.")), (Some("KOI8-R"), true));
    let wide = read(write(at, "w.md", b"\xff\xfe#\0 \0T\0\n\0"));
    assert_eq!((wide.title.as_deref(), wide.encoding.as_deref()), (Some("T"), Some("UTF-16LE")));
    let plain = read(write(at, "u.md", "# Größe"));
    assert_eq!(plain.encoding, None);
    let mut found = Vec::new();
    read_bytes("-", "plain", b"caf\xe9".to_vec(), &ReadOptions::default(), &mut |document| found.push(document));
    assert_eq!(found.remove(0).unwrap().encoding.as_deref(), Some("windows-1252"));
}

#[test]
fn carriage_returns_alone_end_lines() {
    let text = b"# Mac heading\r\rText one.\r\r## Sub\rtext\r";
    let mut found = Vec::new();
    read_bytes("-", "markdown", text.to_vec(), &ReadOptions::default(), &mut |document| found.push(document.unwrap()));
    let document = found.remove(0);
    assert_eq!(document.check(), Ok(()));
    assert_eq!((document.title.as_deref(), document.source.len()), (Some("Mac heading"), text.len()));
    let sentences: Vec<_> = (0..document.len()).map(|i| document.sentence(i)).collect();
    assert_eq!(sentences, ["# Mac heading", "Text one.", "## Sub", "text"]);
    // Beside line feeds they are what they are.
    read_bytes("-", "plain", b"a\rb\nc".to_vec(), &ReadOptions::default(), &mut |read| found.push(read.unwrap()));
    assert_eq!(&*found[0].source, "a\rb\nc");
}

#[test]
fn a_file_over_the_limit_is_named_without_being_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "huge.md", "");
    // A hole of 1 GB: what is read of it is held in memory.
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    let limited = ReadOptions { max_bytes: 64 << 20, ..ReadOptions::default() };
    let mut read = None;
    let used = allocation_counter::measure(|| read = Some(read_path(&path, &limited)));
    let error = read.unwrap().unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { bytes: 1_073_741_824, limit: 67_108_864, .. }), "{error}");
    assert!(error.to_string().contains("huge.md"), "{error}");
    assert!(used.bytes_max < 1 << 20, "{} bytes", used.bytes_max);
}

#[test]
fn globs_narrow_down_what_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["a.md", "b.rst", "guide/c.md", "guide/old/d.md", "guide/e.html", "skip.md", ".hidden.md"] {
        write(at, name, "x");
    }
    write(at, ".gitignore", "skip.md\n");
    let with = |globs: &[&str]| {
        let globs = globs.iter().map(|&glob| glob.to_owned()).collect();
        names(at, &WalkOptions { globs, ..WalkOptions::default() })
    };
    assert_eq!(with(&["*.md"]), ["a.md", "guide/c.md", "guide/old/d.md"]);
    assert_eq!(with(&["*.md", "!guide/old/**"]), ["a.md", "guide/c.md"]);
    assert_eq!(with(&["!*.md"]), ["b.rst", "guide/e.html"]);
    assert_eq!(with(&["guide/**/*.md"]), ["guide/c.md", "guide/old/d.md"]);
    assert_eq!(with(&["!old/"]), ["a.md", "b.rst", "guide/c.md", "guide/e.html"]);
    let bad = WalkOptions { globs: vec!["{a".into()], ..WalkOptions::default() };
    let found = walk(&[at], &bad);
    assert!(matches!(found.as_slice(), [Err(ReadError::Glob { .. })]), "{found:?}");
    assert!(found[0].as_ref().unwrap_err().to_string().contains("{a"));
    assert!(check_globs(&bad.globs).is_err() && check_globs(&["*.md".into()]).is_ok());
    // A file that is named is found, whatever the patterns say.
    let named = walk(&[at.join("b.rst")], &WalkOptions { globs: vec!["*.md".into()], ..WalkOptions::default() });
    assert_eq!(named.len(), 1);
}

#[test]
fn broken_lines_leave_the_rest_of_a_file_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "d.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\nbroken\n{\"id\":\"b\",\"text\":\"y\"}");
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    read_each(&path, &ReadOptions::default(), &mut |item| match item {
        Ok(document) => good.push(document.id),
        Err(error) => bad.push(error.to_string()),
    });
    assert_eq!(good, ["a", "b"]);
    assert!(bad.len() == 1 && bad[0].contains("d.jsonl, line 2"), "{bad:?}");
    assert!(matches!(read_path(&path, &ReadOptions::default()), Err(ReadError::Line { line: 2, .. })));
}

#[test]
fn ids_are_the_path_as_given() {
    for (path, id) in [("./a/b.md", "a/b.md"), ("../a.md", "../a.md"), ("/x/y", "/x/y"), ("a//b/./c", "a/b/c")] {
        assert_eq!(document_id(path), id);
    }
}

#[test]
fn walks_are_sorted_and_respect_gitignore() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["z.md", "a/b.txt", "a/c.rs", "a.md", ".hidden.md", "target/x.md", "a/skip.md"] {
        write(at, name, "x");
    }
    write(at, ".gitignore", "target/\nskip.md\n");
    let all = WalkOptions::default();
    assert_eq!(names(at, &all), ["a/b.txt", "a/c.rs", "a.md", "z.md"]);
    let known = WalkOptions { known_only: true, ..all.clone() };
    assert_eq!(names(at, &known), ["a/b.txt", "a.md", "z.md"]);
    // What lies beside documents is left out, and counted; a pattern asks for it.
    write(at, "a/logo.SVG", "<svg><text>x</text></svg>");
    write(at, "a/style.css", "x");
    assert_eq!(names(at, &all), ["a/b.txt", "a/c.rs", "a.md", "z.md"]);
    assert_eq!(find(&[at], &all).media, [at.join("a/logo.SVG"), at.join("a/style.css")]);
    let pictures = WalkOptions { globs: vec!["*.SVG".into()], ..all.clone() };
    assert_eq!(names(at, &pictures), ["a/logo.SVG"]);
    assert_eq!(walk(&[at.join("a/style.css")], &all).len(), 1);
    fs::remove_file(at.join("a/logo.SVG")).unwrap();
    fs::remove_file(at.join("a/style.css")).unwrap();
    let everything = WalkOptions { gitignore: false, hidden: true, ..all.clone() };
    assert_eq!(names(at, &everything).len(), 8);
    // A file that is named is found, ignored or not, and only once.
    let named = [at.join("a/skip.md"), at.join("a/skip.md"), at.join("none.md")];
    let found = walk(&named, &all);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].as_ref().unwrap(), &named[0]);
    assert!(matches!(&found[1], Err(ReadError::NotFound { .. })));
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_or_in_a_circle_are_named() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "docs/a.md", "x");
    symlink("nowhere.md", at.join("docs/dangling.md")).unwrap();
    symlink(at.join("docs"), at.join("docs/loop")).unwrap();
    symlink("self.md", at.join("docs/self.md")).unwrap();
    symlink("a.md", at.join("docs/link.md")).unwrap();
    // What a link brings a second time is found once.
    let expected = ["docs/a.md", "!docs/dangling.md", "!docs/loop", "!docs/self.md"];
    assert_eq!(names(at, &WalkOptions::default()), expected);
    let errors: Vec<_> = walk(&[at], &WalkOptions::default()).into_iter().filter_map(Result::err).collect();
    assert!(matches!(&errors[0], ReadError::DanglingLink { target, .. } if target == Path::new("nowhere.md")));
    assert!(matches!(&errors[1], ReadError::LinkLoop { .. }), "{}", errors[1]);
    assert!(matches!(&errors[2], ReadError::LinkLoop { .. }), "{}", errors[2]);
    assert!(matches!(error(&at.join("docs/dangling.md")), ReadError::DanglingLink { .. }));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folders_are_followed_on_demand() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (docs, other) = (folder.path().join("docs"), folder.path().join("other"));
    write(&docs, "a.md", "x");
    write(&other, "b.md", "x");
    symlink("../other", docs.join("out")).unwrap();
    symlink("../other/b.md", docs.join("b.md")).unwrap();
    let follow = WalkOptions { follow_links: true, ..WalkOptions::default() };
    assert_eq!(names(&docs, &WalkOptions::default()), ["a.md"]);
    assert_eq!(names(&docs, &follow), ["a.md", "b.md"]);
    let found = find(&[&docs], &WalkOptions::default());
    assert_eq!(found.outside, [docs.join("b.md"), docs.join("out")]);
    let found = find(&[&docs], &follow);
    assert_eq!((found.twice, found.linked), (vec![docs.join("out/b.md")], vec![docs.join("out")]));
    // What is named itself is followed, and what lies in another folder that is named is no stranger.
    assert_eq!(names(&docs.join("out"), &WalkOptions::default()), ["b.md"]);
    let found = find(&[&docs, &other], &WalkOptions::default());
    let files: Vec<_> = found.files.into_iter().map(Result::unwrap).collect();
    assert_eq!((files, found.outside.len()), (vec![docs.join("a.md"), other.join("b.md")], 0));
}

/// Without a limit, so many folders that all link to each other are walked in more orders than anybody can wait for.
#[cfg(unix)]
#[test]
fn folders_that_link_to_each_other_are_walked_once() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    for one in 0..12 {
        write(folder.path(), &format!("d{one}/page.md"), "x");
        for other in (0..12).filter(|other| *other != one) {
            symlink(format!("../d{other}"), folder.path().join(format!("d{one}/to{other}"))).unwrap();
        }
    }
    let found = find(&[folder.path()], &WalkOptions::default());
    let files = found.files.iter().filter(|file| file.is_ok()).count();
    assert_eq!(files, 12);
    assert!(found.files.len() + found.twice.len() < 5000, "{} and {}", found.files.len(), found.twice.len());
}

#[cfg(target_os = "linux")]
#[test]
fn ids_tell_names_apart_that_are_not_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let id = |bytes: &'static [u8]| document_id(OsStr::from_bytes(bytes));
    assert_eq!(id(b"./d/a\xff.md"), r"d/a\xff.md");
    assert_eq!(id(br"d/a\xff.md"), r"d/a\x5cxff.md");
    for name in [&b"d/a\xff.md"[..], br"d/a\xff.md", b"/x/\xfe\xff/y"] {
        assert_eq!(document_path(&document_id(OsStr::from_bytes(name))).as_os_str().as_bytes(), name);
    }
}

#[cfg(unix)]
#[test]
fn files_and_folders_without_permission_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let locked = write(folder.path(), "locked.md", "x");
    let inside = write(folder.path(), "closed/x.md", "x");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let closed = inside.parent().unwrap().to_owned();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let may_read_all = fs::read(&locked).is_ok();
    let (file, names) = (read_path(&locked, &ReadOptions::default()), names(folder.path(), &WalkOptions::default()));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    if may_read_all {
        // The superuser may read everything: then these are files like any other.
        assert!(file.is_ok());
        assert_eq!(names, ["closed/x.md", "locked.md"]);
    } else {
        assert!(matches!(file, Err(ReadError::Permission { .. })));
        assert_eq!(names, ["!closed", "locked.md"]);
    }
}
