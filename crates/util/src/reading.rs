use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// The bytes that a gzip file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Opens a file to read it. A pipe or a device is refused: nobody may ever write into it, or it may have no end.
///
/// # Errors
/// What the system says, and [`io::ErrorKind::InvalidInput`] for a pipe, a device or a socket.
pub fn open_file(path: &Path) -> io::Result<File> {
    let about = fs::metadata(path)?;
    // A folder is left to the system, whose words for it are known.
    if !about.is_file() && !about.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a pipe, a device or a socket, not a file; write its contents into a file and name that",
        ));
    }
    File::open(path)
}

/// Opens a file that [`open_file`] opens, to read what is in it: one packed by gzip is unpacked on the way, whatever its
/// name. Packed files one behind the other are read as one.
///
/// # Errors
/// As [`open_file`]. Reading fails where a packed file is damaged or cut off.
pub fn open_unpacked(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let mut input = BufReader::with_capacity(1 << 16, open_file(path)?);
    match input.fill_buf()?.starts_with(&GZIP) {
        true => Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(input)))),
        false => Ok(Box::new(input)),
    }
}

/// Reads exactly `buffer.len()` bytes of a file from `offset` on, whatever others read of the same file meanwhile.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] where the file is shorter, and what the system says.
#[cfg(unix)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Reads exactly `buffer.len()` bytes of a file from `offset` on, whatever others read of the same file meanwhile.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] where the file is shorter, and what the system says.
#[cfg(windows)]
pub fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = buffer.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a file that [`open_file`] opens.
///
/// # Errors
/// As [`open_file`], and where reading fails.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_file(path)?;
    let length = file.metadata().map_or(0, |about| about.len());
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of UTF-8 that [`open_file`] opens.
///
/// # Errors
/// As [`read_file`], and [`io::ErrorKind::InvalidData`] where it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_file(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Returns true for a link in a folder, or in a folder in it, that leads out of that folder.
#[must_use]
pub fn leads_out(folder: &Path, path: &Path) -> bool {
    let is_link = path.symlink_metadata().is_ok_and(|about| about.file_type().is_symlink());
    let leads_out = || Some(!path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
    is_link && leads_out().unwrap_or(false)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pipes_are_refused_and_links_out_of_a_folder_known() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, page) = (folder.path().join("pipe"), folder.path().join("page"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        for refused in [open_file(&pipe).map(drop), read_file(&pipe).map(drop), read_text(&pipe).map(drop)] {
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert!(open_file(Path::new("/dev/null")).is_err());
        fs::write(&page, "text").unwrap();
        let (inner, inside, outside) = (folder.path().join("inner"), "inner/inside", "inner/outside");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("file"), "").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join(inside)).unwrap();
        std::os::unix::fs::symlink("../page", folder.path().join(outside)).unwrap();
        let leads = |path: &str| leads_out(&inner, &folder.path().join(path));
        assert!(leads(outside) && !leads(inside) && !leads("inner/file") && !leads("inner/none"));
        assert_eq!((read_file(&page).unwrap(), read_text(&page).unwrap().as_str()), (b"text".to_vec(), "text"));
    }

    #[test]
    fn packed_files_are_unpacked_by_what_they_hold() {
        use std::io::Write;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let packed = |text: &str| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(text.as_bytes()).unwrap();
            out.finish().unwrap()
        };
        let whole = [packed("one\n"), packed("two\n")].concat();
        for (bytes, text) in [(whole.as_slice(), "one\ntwo\n"), (b"plain", "plain"), (b"\x1f", "\x1f"), (b"", "")] {
            fs::write(&path, bytes).unwrap();
            let mut found = String::new();
            open_unpacked(&path).unwrap().read_to_string(&mut found).unwrap();
            assert_eq!(found, text);
        }
        fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        assert!(open_unpacked(&path).unwrap().read_to_string(&mut String::new()).is_err());
    }

    #[test]
    fn bytes_at_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, "0123456789").unwrap();
        let file = File::open(&path).unwrap();
        let mut found = [0; 4];
        read_at(&file, &mut found, 5).unwrap();
        assert_eq!(&found, b"5678");
        read_at(&file, &mut found, 0).unwrap();
        assert_eq!(&found, b"0123");
        assert_eq!(read_at(&file, &mut found, 7).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
