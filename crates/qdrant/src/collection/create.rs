//! Making a collection and its payload indexes, deleting it.

use std::collections::{HashMap, HashSet};

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::quantization_config::Quantization as Method;
use qdrant_client::qdrant::{
    BinaryQuantization, CompressionRatio, CreateCollection, CreateFieldIndexCollection, DeleteCollection,
    Distance as ServerDistance, FieldType, Modifier, PayloadIndexParams, ProductQuantization, QuantizationConfig,
    QuantizationType, ScalarQuantization, SparseIndexConfig, SparseVectorConfig, SparseVectorParams, TextIndexParams,
    TokenizerType, VectorParams, VectorParamsMap, VectorsConfig, vectors_config,
};

use super::alias::resolve;
use super::inspect::inspect;
use crate::connection::{Connection, Purpose};
use crate::point::{DENSE, SPARSE, fields};
use crate::settings::{Distance, Quantization, Settings};
use crate::{Error, Record};

/// The fields that searches and updates filter by.
const INDEXES: &[(&str, FieldType)] = &[
    (fields::DOCUMENT, FieldType::Keyword),
    (fields::REVISION, FieldType::Keyword),
    (fields::ORDINAL, FieldType::Integer),
    (fields::PATH, FieldType::Keyword),
    (fields::HEADING, FieldType::Text),
    (fields::FILE_TYPE, FieldType::Keyword),
    (fields::LANGUAGE, FieldType::Keyword),
];

/// Makes a collection and its indexes; where another worker was faster, that is as good. An alias of the name is not: it
/// leads to another corpus.
pub(crate) async fn create(connection: &Connection, name: &str, record: &Record) -> Result<(), Error> {
    let request = request(&connection.target.settings, name, record)?;
    let made = connection
        .call("making the collection", Purpose::Load, || {
            let mut client = connection.collections.clone();
            let request = request.clone();
            async move { client.create(request).await }
        })
        .await;
    // Refused where it exists, and also where an earlier attempt made it whose answer was lost.
    if let Err(error) = made {
        if !matches!(error, Error::Refused { .. }) {
            return Err(error);
        }
        if let Some(behind) = resolve(connection, name).await? {
            let address = connection.target.address();
            return Err(Error::IsAnAlias { collection: name.to_owned(), behind, address });
        }
        return match inspect(connection, name).await? {
            Some(_) => Ok(()),
            None => Err(error),
        };
    }
    add_indexes(connection, name, &HashSet::new()).await
}

/// What the server is asked for. The newer fields `memory` say the same to the newest servers alone.
#[allow(deprecated)]
fn request(settings: &Settings, name: &str, record: &Record) -> Result<CreateCollection, Error> {
    let dense = record.dimension().map(|dimension| VectorParams {
        size: dimension as u64,
        distance: match settings.distance {
            Distance::Cosine => ServerDistance::Cosine,
            Distance::Dot => ServerDistance::Dot,
            Distance::Euclid => ServerDistance::Euclid,
            Distance::Manhattan => ServerDistance::Manhattan,
        }
        .into(),
        on_disk: Some(settings.on_disk),
        ..VectorParams::default()
    });
    let sparse = SparseVectorParams {
        modifier: Some(Modifier::Idf.into()),
        index: Some(SparseIndexConfig { on_disk: Some(settings.on_disk), ..SparseIndexConfig::default() }),
    };
    // What is searched first stays in memory even where the originals are on disk.
    let always_ram = Some(true);
    let method = match settings.quantization {
        Quantization::None => None,
        Quantization::Scalar => Some(Method::Scalar(ScalarQuantization {
            r#type: QuantizationType::Int8.into(),
            quantile: Some(0.99),
            always_ram,
            ..ScalarQuantization::default()
        })),
        Quantization::Binary => {
            Some(Method::Binary(BinaryQuantization { always_ram, ..BinaryQuantization::default() }))
        }
        Quantization::Product => Some(Method::Product(ProductQuantization {
            compression: CompressionRatio::X16.into(),
            always_ram,
            ..ProductQuantization::default()
        })),
    };
    Ok(CreateCollection {
        collection_name: name.to_owned(),
        shard_number: settings.shards,
        replication_factor: settings.replication_factor,
        write_consistency_factor: settings.write_consistency_factor,
        on_disk_payload: Some(true),
        vectors_config: dense.map(|dense| VectorsConfig {
            config: Some(vectors_config::Config::ParamsMap(VectorParamsMap {
                map: HashMap::from([(DENSE.to_owned(), dense)]),
            })),
        }),
        sparse_vectors_config: Some(SparseVectorConfig { map: HashMap::from([(SPARSE.to_owned(), sparse)]) }),
        quantization_config: method.map(|method| QuantizationConfig { quantization: Some(method) }),
        metadata: record.to_metadata()?,
        ..CreateCollection::default()
    })
}

/// Makes the indexes that are not there yet: before anything is loaded, since building them later costs more, and a
/// server may refuse to filter without them.
pub(crate) async fn add_indexes(connection: &Connection, name: &str, there: &HashSet<String>) -> Result<(), Error> {
    for &(field, kind) in INDEXES.iter().filter(|(field, _)| !there.contains(*field)) {
        let words = TextIndexParams {
            tokenizer: TokenizerType::Word.into(),
            lowercase: Some(true),
            ..TextIndexParams::default()
        };
        let params = matches!(kind, FieldType::Text)
            .then_some(PayloadIndexParams { index_params: Some(IndexParams::TextIndexParams(words)) });
        let request = CreateFieldIndexCollection {
            collection_name: name.to_owned(),
            wait: Some(true),
            field_name: field.to_owned(),
            field_type: Some(kind.into()),
            field_index_params: params,
            ..CreateFieldIndexCollection::default()
        };
        connection
            .update("making a payload index", || {
                let mut client = connection.points.clone();
                let request = request.clone();
                async move { client.create_field_index(request).await }
            })
            .await?;
    }
    Ok(())
}

/// Deletes a collection and the aliases in front of it; that there is none is as good.
pub(crate) async fn delete(connection: &Connection, collection: &str) -> Result<(), Error> {
    connection
        .call("deleting a collection", Purpose::Load, || {
            let mut client = connection.collections.clone();
            let request = DeleteCollection { collection_name: collection.to_owned(), ..DeleteCollection::default() };
            async move { client.delete(request).await }
        })
        .await
        .map(drop)
}
