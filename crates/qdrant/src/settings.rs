use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::Error;

/// The measure of the nearness of two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distance {
    /// The angle between them; the server keeps them at length 1.
    #[default]
    Cosine,
    /// The dot product.
    Dot,
    /// The straight line between them.
    Euclid,
    /// The sum of the differences.
    Manhattan,
}

impl FromStr for Distance {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "cosine" => Ok(Self::Cosine),
            "dot" => Ok(Self::Dot),
            "euclid" => Ok(Self::Euclid),
            "manhattan" => Ok(Self::Manhattan),
            _ => Err("the distances are cosine, dot, euclid, manhattan".to_owned()),
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cosine => "cosine",
            Self::Dot => "dot",
            Self::Euclid => "euclid",
            Self::Manhattan => "manhattan",
        })
    }
}

/// The way in which the server shortens vectors for its first look at them; it keeps the originals for a second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quantization {
    /// Not at all.
    #[default]
    None,
    /// One byte a dimension.
    Scalar,
    /// One bit a dimension.
    Binary,
    /// One byte for sixteen bytes.
    Product,
}

impl FromStr for Quantization {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "none" => Ok(Self::None),
            "scalar" => Ok(Self::Scalar),
            "binary" => Ok(Self::Binary),
            "product" => Ok(Self::Product),
            _ => Err("the quantizations are none, scalar, binary, product".to_owned()),
        }
    }
}

/// The settings by which a collection is made and its server called. The first group counts when a collection is made and
/// says nothing about one that exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `distance`: cosine.
    pub distance: Distance,
    /// `shards`: the server's own choice, which is one for each of its nodes.
    pub shards: Option<u32>,
    /// `replication_factor`: copies of each shard; the server's own choice, which is 1.
    pub replication_factor: Option<u32>,
    /// `write_consistency_factor`: copies that must have a write before it counts; the server's own choice, 1.
    pub write_consistency_factor: Option<u32>,
    /// `on_disk`: vectors and the sparse index are read from disk instead of held in memory; off.
    pub on_disk: bool,
    /// `quantization`: none.
    pub quantization: Quantization,
    /// `evaluation`: the collection is made to be measured in, and takes the place of such ones alone; off.
    pub evaluation: bool,
    /// `dimension`: length of the vectors, to be checked against the embedder's.
    pub dimension: Option<usize>,

    /// `timeout`, in seconds: for one attempt of one call, 60.
    pub timeout: Duration,
    /// `connect_timeout`, in seconds: 10.
    pub connect_timeout: Duration,
    /// `retries`: attempts after the first, 8.
    pub retries: u32,
    /// `backoff`, in seconds: the longest wait before the first retry, doubled for each one after it; 0.25.
    pub backoff: Duration,
    /// `max_backoff`, in seconds: where the doubling ends, 15.
    pub max_backoff: Duration,
    /// `max_wait`, in seconds: all waits of one call together, those that the server asks for included; 600.
    pub max_wait: Duration,
    /// `max_refused`, in seconds: all waits of one call together while nobody listens at the address; as `max_wait` where it
    /// is not set.
    pub max_refused: Option<Duration>,
    /// `batch_bytes`: encoded size at which a batch is sent, 4 MiB; at most `message_bytes`. A chunk that is larger travels
    /// alone.
    pub batch_bytes: usize,
    /// `batch_points`: number of chunks at which a batch is sent, 512.
    pub batch_points: usize,
    /// `in_flight`: batches that are under way at the same time, 4. With the one that is being filled they bound what
    /// a writer holds: about `2 * in_flight + 1` times `batch_bytes`, since a batch is kept until it is acknowledged.
    pub in_flight: usize,
    /// `message_bytes`: the largest message that is accepted from the server, and the largest chunk that is sent; 64 MiB.
    /// Listings that would be larger come in smaller pages.
    pub message_bytes: usize,
    /// `tls`: whether the connection is encrypted; also by writing `qdrants://`.
    pub tls: bool,
    /// `ca`: file with the certificate (PEM) that the server's is signed by, instead of the system's.
    pub ca: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            distance: Distance::default(),
            shards: None,
            replication_factor: None,
            write_consistency_factor: None,
            on_disk: false,
            quantization: Quantization::default(),
            evaluation: false,
            dimension: None,
            timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            retries: 8,
            backoff: Duration::from_millis(250),
            max_backoff: Duration::from_secs(15),
            max_wait: Duration::from_secs(600),
            max_refused: None,
            batch_bytes: 4 << 20,
            batch_points: 512,
            in_flight: 4,
            message_bytes: 64 << 20,
            tls: false,
            ca: None,
        }
    }
}

/// The names of all settings, in the order of the documentation.
const KEYS: &[&str] = &[
    "distance",
    "shards",
    "replication_factor",
    "write_consistency_factor",
    "on_disk",
    "quantization",
    "evaluation",
    "dimension",
    "timeout",
    "connect_timeout",
    "retries",
    "backoff",
    "max_backoff",
    "max_wait",
    "max_refused",
    "batch_bytes",
    "batch_points",
    "in_flight",
    "message_bytes",
    "tls",
    "ca",
];

impl Settings {
    /// Sets one by its name.
    ///
    /// # Errors
    /// [`Error::Setting`] for a name that does not exist or a value that it cannot have.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        self.try_set(key, value).map_err(|reason| Error::Setting {
            key: key.to_owned(),
            value: value.to_owned(),
            reason,
        })
    }

    fn try_set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "distance" => self.distance = value.parse()?,
            "shards" => self.shards = Some(whole(value, 1, 65_536)?),
            "replication_factor" => self.replication_factor = Some(whole(value, 1, 256)?),
            "write_consistency_factor" => self.write_consistency_factor = Some(whole(value, 1, 256)?),
            "on_disk" => self.on_disk = switch(value)?,
            "quantization" => self.quantization = value.parse()?,
            "evaluation" => self.evaluation = switch(value)?,
            "dimension" => self.dimension = Some(whole(value, 1, 65_536)?),
            "timeout" => self.timeout = seconds(value)?,
            "connect_timeout" => self.connect_timeout = seconds(value)?,
            "retries" => self.retries = whole(value, 0, 1000)?,
            "backoff" => self.backoff = seconds(value)?,
            "max_backoff" => self.max_backoff = seconds(value)?,
            "max_wait" => self.max_wait = seconds(value)?,
            "max_refused" => self.max_refused = Some(seconds(value)?),
            "batch_bytes" => self.batch_bytes = whole(value, 1024, 1 << 30)?,
            "batch_points" => self.batch_points = whole(value, 1, 1 << 20)?,
            "in_flight" => self.in_flight = whole(value, 1, 256)?,
            "message_bytes" => self.message_bytes = whole(value, 16 << 10, 1 << 30)?,
            "tls" => self.tls = switch(value)?,
            "ca" if value.is_empty() => return Err("it needs a file".to_owned()),
            "ca" => self.ca = Some(PathBuf::from(value)),
            _ => return Err(format!("there is no such setting; there are {}", KEYS.join(", "))),
        }
        Ok(())
    }
}

fn whole<T: TryFrom<u64>>(value: &str, least: u64, most: u64) -> Result<T, String> {
    let out_of_range = || format!("it must be a whole number from {least} to {most}");
    let number: u64 = value.parse().map_err(|_| out_of_range())?;
    if !(least..=most).contains(&number) {
        return Err(out_of_range());
    }
    T::try_from(number).map_err(|_| out_of_range())
}

fn seconds(value: &str) -> Result<Duration, String> {
    let wrong = || "it must be a number of seconds, above 0 and at most 86400".to_owned();
    let number: f64 = value.parse().map_err(|_| wrong())?;
    if !(number > 0.0 && number <= 86_400.0) {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

fn switch(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" | "on" | "yes" => Ok(true),
        "0" | "false" | "off" | "no" => Ok(false),
        _ => Err("it must be on or off".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_key_can_be_set() {
        for key in KEYS {
            let value = match *key {
                "distance" => "dot",
                "quantization" => "binary",
                "on_disk" | "evaluation" | "tls" => "on",
                "ca" => "ca.pem",
                "batch_bytes" => "2048",
                "message_bytes" => "65536",
                _ => "2",
            };
            let mut settings = Settings::default();
            settings.set(key, value).unwrap();
            assert_ne!(settings, Settings::default(), "{key}");
        }
    }

    #[test]
    fn what_cannot_be_is_named() {
        let refused = |key: &str, value: &str| Settings::default().set(key, value).unwrap_err().to_string();
        assert_eq!(refused("shards", "0"), "setting `shards=0`: it must be a whole number from 1 to 65536");
        assert!(refused("shard", "1").contains("there is no such setting; there are distance, shards,"));
        assert!(refused("timeout", "NaN").contains("number of seconds"));
        assert!(refused("timeout", "-1").contains("number of seconds"));
        assert!(refused("distance", "hamming").contains("cosine, dot"));
        assert!(refused("tls", "maybe").contains("on or off"));
    }

    #[test]
    fn batches_stay_below_what_is_advised() {
        assert!(Settings::default().batch_bytes < 5_000_000);
    }
}
