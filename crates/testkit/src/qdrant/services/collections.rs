use std::time::Instant;

use qdrant_client::qdrant::collections_server::Collections;
use qdrant_client::qdrant::{
    AliasDescription, AliasOperations, ChangeAliases, CollectionDescription, CollectionExists, CollectionExistsRequest,
    CollectionExistsResponse, CollectionOperationResponse, CreateCollection, DeleteCollection,
    GetCollectionInfoRequest, GetCollectionInfoResponse, ListAliasesRequest, ListAliasesResponse,
    ListCollectionsRequest, ListCollectionsResponse,
};
use tonic::{Request, Response, Status};

use super::{Call, Shared, unserved};

fn done(started: Instant, result: bool) -> CollectionOperationResponse {
    CollectionOperationResponse { result, time: started.elapsed().as_secs_f64() }
}

#[tonic::async_trait]
impl Collections for Shared {
    async fn get(
        &self,
        request: Request<GetCollectionInfoRequest>,
    ) -> Result<Response<GetCollectionInfoResponse>, Status> {
        let started = Instant::now();
        let name = request.into_inner().collection_name;
        let answer = || {
            let result = Some(self.engine.info(&name)?);
            Ok(GetCollectionInfoResponse { result, time: started.elapsed().as_secs_f64() })
        };
        self.serve_whole(Call::Info, answer).await
    }

    async fn list(&self, _: Request<ListCollectionsRequest>) -> Result<Response<ListCollectionsResponse>, Status> {
        let started = Instant::now();
        let answer = || {
            let collections = self.engine.names().into_iter().map(|name| CollectionDescription { name }).collect();
            Ok(ListCollectionsResponse { collections, time: started.elapsed().as_secs_f64() })
        };
        self.serve_whole(Call::List, answer).await
    }

    async fn create(
        &self,
        request: Request<CreateCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let make = || self.engine.create(request).map(|()| done(started, true));
        self.serve_whole(Call::CreateCollection, make).await
    }

    async fn delete(
        &self,
        request: Request<DeleteCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let started = Instant::now();
        let name = request.into_inner().collection_name;
        let drop = || Ok(done(started, self.engine.drop_collection(&name)));
        self.serve_whole(Call::DropCollection, drop).await
    }

    async fn update_aliases(
        &self,
        request: Request<ChangeAliases>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let started = Instant::now();
        let actions = request.into_inner().actions;
        let change = |part: &[AliasOperations]| self.engine.change_aliases(part).map(|()| done(started, true));
        let half = actions.get(..actions.len() / 2).unwrap_or(&[]);
        self.serve(Call::ChangeAliases, || change(&actions), || change(half)).await
    }

    async fn list_aliases(&self, _: Request<ListAliasesRequest>) -> Result<Response<ListAliasesResponse>, Status> {
        let started = Instant::now();
        let answer = || {
            let aliases = self.engine.aliases().into_iter();
            let describe = |(alias_name, collection_name)| AliasDescription { alias_name, collection_name };
            Ok(ListAliasesResponse { aliases: aliases.map(describe).collect(), time: started.elapsed().as_secs_f64() })
        };
        self.serve_whole(Call::ListAliases, answer).await
    }

    async fn collection_exists(
        &self,
        request: Request<CollectionExistsRequest>,
    ) -> Result<Response<CollectionExistsResponse>, Status> {
        let started = Instant::now();
        let name = request.into_inner().collection_name;
        let exists = self.engine.info(&name).is_ok();
        let time = started.elapsed().as_secs_f64();
        Ok(Response::new(CollectionExistsResponse { result: Some(CollectionExists { exists }), time }))
    }

    unserved! {
        update UpdateCollection CollectionOperationResponse;
        list_collection_aliases ListCollectionAliasesRequest ListAliasesResponse;
        collection_cluster_info CollectionClusterInfoRequest CollectionClusterInfoResponse;
        update_collection_cluster_setup UpdateCollectionClusterSetupRequest UpdateCollectionClusterSetupResponse;
        create_shard_key CreateShardKeyRequest CreateShardKeyResponse;
        delete_shard_key DeleteShardKeyRequest DeleteShardKeyResponse;
        list_shard_keys ListShardKeysRequest ListShardKeysResponse;
    }
}
