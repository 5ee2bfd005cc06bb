//! The folders that are watched. The system follows the folder that had a name, not the name: a folder that takes the
//! name over is another one, and has to be watched anew.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::SystemTime;

use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::resources::shown;
use crate::status::Failure;

/// What is watched, and by whom.
pub(super) struct Sight {
    sender: Sender<notify::Result<Event>>,
    places: Vec<Place>,
    /// Dropped and made anew whenever a place is another one.
    _watcher: RecommendedWatcher,
}

/// A path that is watched.
struct Place {
    path: PathBuf,
    /// On the command line; the others are folders behind links.
    named: bool,
    /// The path itself, or the folder that it is in.
    watched: PathBuf,
    /// What was there when the watch began; nothing where nothing was.
    identity: Option<Identity>,
    /// It was a file when it was there last.
    was_file: bool,
    /// It was not there when the files were first looked at, and left the index (--prune): it is not waited for.
    given_up: bool,
    /// It went away, whatever is there now.
    lost: bool,
}

/// What tells a folder from another one of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    number: (u64, u64),
    /// Numbers are given again.
    created: Option<SystemTime>,
}

impl Identity {
    fn of(about: &Metadata) -> Self {
        Self { number: number(about), created: about.created().ok() }
    }
}

#[cfg(unix)]
fn number(about: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

#[cfg(not(unix))]
fn number(_about: &Metadata) -> (u64, u64) {
    (0, 0)
}

impl Sight {
    /// Watches these paths, and these folders behind links below them. Of the paths, those that are `gone` left the index.
    pub fn over(
        paths: &[PathBuf],
        linked: &[PathBuf],
        gone: &[PathBuf],
        sender: Sender<notify::Result<Event>>,
    ) -> Result<Self, Failure> {
        let named = paths.iter().map(|path| Place { given_up: gone.contains(path), ..Place::new(path, true) });
        let places = named.chain(linked.iter().map(|path| Place::new(path, false)));
        Self::open(places.collect(), sender)
    }

    fn open(mut places: Vec<Place>, sender: Sender<notify::Result<Event>>) -> Result<Self, Failure> {
        // Links out of the folders are no business of ours; those that are followed are places themselves.
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(sender.clone(), config).map_err(Failure::runtime)?;
        for place in &mut places {
            let (watched, mode) = target(&place.path);
            (place.lost, place.watched) = (false, watched.to_owned());
            // Looked at before it is watched: a folder that is replaced in between is found to be another one.
            place.identity = std::fs::metadata(&place.watched).ok().map(|about| Identity::of(&about));
            if place.identity.is_none() {
                continue;
            }
            (place.was_file, place.given_up) = (mode == RecursiveMode::NonRecursive, false);
            // With a slash at its end, the name of a link is the folder behind it.
            let entered = if mode == RecursiveMode::Recursive { watched.join("") } else { watched.to_owned() };
            if let Err(error) = watcher.watch(&entered, mode) {
                match is_missing(watched) {
                    true => place.identity = None,
                    false => return Err(Failure::runtime(format!("{}: {error}", shown(watched)))),
                }
            }
        }
        Ok(Self { sender, places, _watcher: watcher })
    }

    /// True where some place is not what it was when the watch began.
    pub fn is_stale(&self) -> bool {
        self.places.iter().any(Place::is_stale)
    }

    /// Notes that what had this path went away. Another one may have its name and even its number by now.
    pub fn lose(&mut self, path: &Path, here: &Path) {
        for place in self.places.iter_mut().filter(|place| here.join(&place.watched) == path) {
            place.lost = true;
        }
    }

    /// Watches what is there now, and says what that is.
    pub fn renew(self) -> Result<Self, Failure> {
        for place in self.places.iter().filter(|place| place.is_stale()) {
            let name = shown(&place.path);
            match (place.identity, place.is_there()) {
                (Some(_), true) => tell!("{name} was replaced: following the new one"),
                (Some(_), false) if place.named => tell!("{name} is gone: waiting for it"),
                (None, true) if place.named => tell!("{name} is back"),
                _ => {}
            }
        }
        let Self { sender, places, _watcher } = self;
        drop(_watcher);
        Self::open(places, sender)
    }

    /// The paths of the command line that were there when the watch began.
    pub fn present(&self) -> Vec<PathBuf> {
        let present = self.places.iter().filter(|place| place.named && place.identity.is_some());
        present.map(|place| place.path.clone()).collect()
    }

    /// The paths of the command line that nobody waits for: those that were given up, and files that went away while they were
    /// watched. A folder that did may be back soon, with all that was in it: it is waited for.
    pub fn gone(&self) -> Vec<PathBuf> {
        let absent = self.places.iter().filter(|place| place.named && place.identity.is_none());
        let gone = absent.filter(|place| place.given_up || (place.was_file && folder_of(&place.path).is_dir()));
        gone.map(|place| place.path.clone()).collect()
    }

    /// Watches these folders behind links from now on, instead of those before; says whether they are others.
    pub fn follow(&mut self, linked: &[PathBuf]) -> bool {
        let before = self.places.iter().filter(|place| !place.named).map(|place| &place.path);
        if before.eq(linked) {
            return false;
        }
        self.places.retain(|place| place.named);
        self.places.extend(linked.iter().map(|path| Place::new(path, false)));
        true
    }
}

impl Place {
    fn new(path: &Path, named: bool) -> Self {
        let (path, watched) = (path.to_owned(), path.to_owned());
        Self { path, named, watched, identity: None, was_file: false, given_up: false, lost: false }
    }

    fn is_there(&self) -> bool {
        target(&self.path).0.exists()
    }

    fn is_stale(&self) -> bool {
        let watched = target(&self.path).0;
        match std::fs::metadata(watched) {
            Ok(about) => self.lost || self.identity != Some(Identity::of(&about)),
            // What cannot be looked at for a moment may well be the same.
            Err(_) => self.identity.is_some() && is_missing(watched),
        }
    }
}

/// True where nothing has that path: no link either, or one that leads nowhere.
fn is_missing(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

/// What is watched to follow a path. A file that an editor replaces is another one: its folder tells.
fn target(path: &Path) -> (&Path, RecursiveMode) {
    match path.is_dir() || path.symlink_metadata().is_err() {
        true => (path, RecursiveMode::Recursive),
        false => (folder_of(path), RecursiveMode::NonRecursive),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
