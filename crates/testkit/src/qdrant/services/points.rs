use std::sync::atomic::Ordering;
use std::time::Instant;

use prost::Message;
use qdrant_client::qdrant::facet_value::Variant;
use qdrant_client::qdrant::points_server::Points;
use qdrant_client::qdrant::{
    CountPoints, CountResponse, CountResult, CreateFieldIndexCollection, DeletePoints, FacetCounts, FacetHit,
    FacetResponse, FacetValue, GetPoints, GetResponse, PointsOperationResponse, QueryPoints, QueryResponse,
    ScrollPoints, ScrollResponse, UpdateResult, UpdateStatus, UpsertPoints,
};
use tonic::{Request, Response, Status};

use super::{Call, Shared, unserved};

fn done(started: Instant) -> PointsOperationResponse {
    PointsOperationResponse {
        result: Some(UpdateResult { operation_id: Some(0), status: UpdateStatus::Completed.into() }),
        time: started.elapsed().as_secs_f64(),
        usage: None,
    }
}

#[tonic::async_trait]
impl Points for Shared {
    async fn upsert(&self, request: Request<UpsertPoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let _under_way = self.faults.upsert(request.points.len(), request.encoded_len());
        let store = |part: usize| {
            let points = request.points.get(..part).unwrap_or(&request.points);
            self.engine.upsert(&request.collection_name, points).map(|()| done(started))
        };
        let all = request.points.len();
        self.serve(Call::Upsert, || store(all), || store(all / 2)).await
    }

    async fn delete(&self, request: Request<DeletePoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let started = Instant::now();
        let DeletePoints { collection_name, points, .. } = request.into_inner();
        let delete = |half: bool| self.engine.delete(&collection_name, points.as_ref(), half).map(|()| done(started));
        self.serve(Call::Delete, || delete(false), || delete(true)).await
    }

    async fn get(&self, request: Request<GetPoints>) -> Result<Response<GetResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let answer = || {
            let result = self.engine.get(&request)?;
            Ok(GetResponse { result, time: started.elapsed().as_secs_f64(), usage: None })
        };
        self.serve_whole(Call::Get, answer).await
    }

    async fn create_field_index(
        &self,
        request: Request<CreateFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        self.serve_whole(Call::CreateIndex, || self.engine.create_index(&request).map(|()| done(started))).await
    }

    async fn scroll(&self, request: Request<ScrollPoints>) -> Result<Response<ScrollResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let answer = || {
            let (result, mut next_page_offset) = self.engine.scroll(&request)?;
            if self.circling.load(Ordering::Relaxed) {
                next_page_offset = next_page_offset.or_else(|| result.first()?.id.clone());
            }
            Ok(ScrollResponse { result, next_page_offset, time: started.elapsed().as_secs_f64(), usage: None })
        };
        self.serve_whole(Call::Scroll, answer).await
    }

    async fn count(&self, request: Request<CountPoints>) -> Result<Response<CountResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let answer = || {
            let count = self.engine.count(&request.collection_name, request.filter.as_ref())?;
            let time = started.elapsed().as_secs_f64();
            Ok(CountResponse { result: Some(CountResult { count }), time, usage: None })
        };
        self.serve_whole(Call::Count, answer).await
    }

    async fn facet(&self, request: Request<FacetCounts>) -> Result<Response<FacetResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let answer = || {
            let values = self.engine.values(&request.collection_name, &request.key)?.into_iter();
            let hits = values.map(|(value, count)| FacetHit {
                value: Some(FacetValue { variant: Some(Variant::StringValue(value)) }),
                count,
            });
            Ok(FacetResponse { hits: hits.collect(), time: started.elapsed().as_secs_f64(), usage: None })
        };
        self.serve_whole(Call::Count, answer).await
    }

    async fn query(&self, request: Request<QueryPoints>) -> Result<Response<QueryResponse>, Status> {
        let started = Instant::now();
        let request = request.into_inner();
        let answer = || {
            let result = self.engine.query(request)?;
            Ok(QueryResponse { result, time: started.elapsed().as_secs_f64(), usage: None })
        };
        self.serve_whole(Call::Query, answer).await
    }

    unserved! {
        update_vectors UpdatePointVectors PointsOperationResponse;
        delete_vectors DeletePointVectors PointsOperationResponse;
        set_payload SetPayloadPoints PointsOperationResponse;
        overwrite_payload SetPayloadPoints PointsOperationResponse;
        delete_payload DeletePayloadPoints PointsOperationResponse;
        clear_payload ClearPayloadPoints PointsOperationResponse;
        delete_field_index DeleteFieldIndexCollection PointsOperationResponse;
        create_vector_name CreateVectorNameRequest PointsOperationResponse;
        delete_vector_name DeleteVectorNameRequest PointsOperationResponse;
        search SearchPoints SearchResponse;
        search_batch SearchBatchPoints SearchBatchResponse;
        search_groups SearchPointGroups SearchGroupsResponse;
        recommend RecommendPoints RecommendResponse;
        recommend_batch RecommendBatchPoints RecommendBatchResponse;
        recommend_groups RecommendPointGroups RecommendGroupsResponse;
        discover DiscoverPoints DiscoverResponse;
        discover_batch DiscoverBatchPoints DiscoverBatchResponse;
        update_batch UpdateBatchPoints UpdateBatchResponse;
        query_batch QueryBatchPoints QueryBatchResponse;
        query_groups QueryPointGroups QueryGroupsResponse;
        search_matrix_pairs SearchMatrixPoints SearchMatrixPairsResponse;
        search_matrix_offsets SearchMatrixPoints SearchMatrixOffsetsResponse;
    }
}
