//! The fields of a point that the server sent. It may hold anything: another program may have written it.

use std::collections::HashMap;

use pericope_api::Heading;
use pericope_store::{ChunkId, ChunkRecord, Position, file_type_of};
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{PointId, Value, point_id};
use uuid::Uuid;

use crate::{Error, fields};

/// The number of characters of an id that messages show.
const SHOWN: usize = 64;

/// A point's id and payload, to be read field by field.
pub(crate) struct Payload<'a> {
    pub collection: &'a str,
    pub id: Option<&'a PointId>,
    pub fields: &'a HashMap<String, Value>,
}

impl Payload<'_> {
    /// The id of a chunk.
    pub fn id(&self) -> Result<ChunkId, Error> {
        uuid_of(self.id).ok_or_else(|| self.foreign("its id is no UUID".to_owned()))
    }

    /// The document and the place in it.
    pub fn place(&self) -> Result<(String, usize), Error> {
        Ok((self.string(fields::DOCUMENT)?, self.number(fields::ORDINAL)?))
    }

    /// The whole chunk.
    pub fn chunk(&self) -> Result<ChunkRecord, Error> {
        let (document, ordinal) = self.place()?;
        let (start, end) = (self.number(fields::START)?, self.number(fields::END)?);
        if start > end {
            return Err(self.foreign(format!("it ends at byte {end}, before it begins at byte {start}")));
        }
        Ok(ChunkRecord {
            start,
            end,
            heading_path: self.strings(fields::HEADING_PATH)?.into_iter().map(Heading::from).collect(),
            text: self.string(fields::TEXT)?,
            title: self.optional(fields::TITLE)?,
            anchor: self.optional(fields::ANCHOR)?,
            file_type: self.optional(fields::FILE_TYPE)?.unwrap_or_else(|| file_type_of(&document)),
            context: self.optional(fields::CONTEXT)?,
            language: self.optional(fields::LANGUAGE)?.and_then(|code| code.parse().ok()).unwrap_or_default(),
            ordinal,
            tokens: self.number(fields::TOKENS)?,
            leading: self.optional(fields::LEADING)?.unwrap_or_default(),
            begins: match self.fields.contains_key(fields::LINE) {
                true => Some(Position { line: self.number(fields::LINE)?, char: self.number(fields::CHAR)? }),
                false => None,
            },
            ends: None,
            document,
        })
    }

    pub fn string(&self, field: &str) -> Result<String, Error> {
        self.optional(field)?.ok_or_else(|| self.lacks(field, "a text"))
    }

    /// A text, or nothing where the field is not there.
    pub fn optional(&self, field: &str) -> Result<Option<String>, Error> {
        match self.kind(field) {
            None | Some(Kind::NullValue(_)) => Ok(None),
            Some(Kind::StringValue(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.lacks(field, "a text")),
        }
    }

    pub fn number<T: TryFrom<i64>>(&self, field: &str) -> Result<T, Error> {
        match self.kind(field) {
            Some(Kind::IntegerValue(number)) => T::try_from(*number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.lacks(field, "a whole number from 0"))
    }

    fn strings(&self, field: &str) -> Result<Vec<String>, Error> {
        let Some(Kind::ListValue(list)) = self.kind(field) else { return Err(self.lacks(field, "a list of texts")) };
        let texts = list.values.iter().map(|value| match &value.kind {
            Some(Kind::StringValue(text)) => Ok(text.clone()),
            _ => Err(self.lacks(field, "a list of texts")),
        });
        texts.collect()
    }

    fn kind(&self, field: &str) -> Option<&Kind> {
        self.fields.get(field)?.kind.as_ref()
    }

    fn lacks(&self, field: &str, wanted: &str) -> Error {
        let what = if self.fields.contains_key(field) { "is not" } else { "is missing: it should be" };
        self.foreign(format!("its field `{field}` {what} {wanted}"))
    }

    fn foreign(&self, reason: String) -> Error {
        let id = match self.id.and_then(|id| id.point_id_options.as_ref()) {
            None => "(none)".to_owned(),
            Some(point_id::PointIdOptions::Num(number)) => number.to_string(),
            Some(point_id::PointIdOptions::Uuid(text)) => text.chars().take(SHOWN).collect(),
        };
        Error::NotAChunk { collection: self.collection.to_owned(), id, reason }
    }
}

fn uuid_of(id: Option<&PointId>) -> Option<Uuid> {
    match id?.point_id_options.as_ref()? {
        point_id::PointIdOptions::Uuid(text) => Uuid::parse_str(text).ok(),
        point_id::PointIdOptions::Num(_) => None,
    }
}
