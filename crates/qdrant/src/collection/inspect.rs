//! Looking at a collection.

use std::collections::HashSet;

use qdrant_client::qdrant::{CollectionInfo, GetCollectionInfoRequest};
use tonic::{Code, Response};

use crate::connection::{Connection, Purpose};
use crate::{Error, Record};

/// A collection that exists and is ours.
pub(crate) struct Found {
    pub record: Record,
    pub quantized: bool,
    /// The fields that have an index.
    pub indexed: HashSet<String>,
}

/// Looks at the collection (or alias) of that name; nothing where there is none.
pub(crate) async fn inspect(connection: &Connection, name: &str) -> Result<Option<Found>, Error> {
    const CALL: &str = "looking at the collection";
    let response = connection
        .call(CALL, Purpose::Read, || {
            let mut client = connection.collections.clone();
            let request = GetCollectionInfoRequest { collection_name: name.to_owned() };
            async move {
                match client.get(request).await {
                    Err(status) if status.code() == Code::NotFound => Ok(Response::new(None)),
                    other => other.map(|response| Response::new(response.into_inner().result)),
                }
            }
        })
        .await?;
    let Some(CollectionInfo { config, payload_schema, .. }) = response else { return Ok(None) };
    let metadata = config.as_ref().map(|config| &config.metadata);
    let record = match metadata {
        None => None,
        Some(metadata) => Record::from_metadata(name, metadata)?,
    };
    let Some(record) = record else {
        return Err(Error::NotOurs {
            collection: name.to_owned(),
            address: connection.target.address(),
            version: connection.version().await?,
        });
    };
    let quantized = config.is_some_and(|config| config.quantization_config.is_some());
    Ok(Some(Found { record, quantized, indexed: payload_schema.into_keys().collect() }))
}
