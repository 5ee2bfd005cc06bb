//! Conditions on the payload.

use std::collections::{BTreeSet, HashMap};

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{Condition, FieldCondition, FieldType, Filter, Range, Value};
use tonic::Status;

use super::model::Key;

/// Refuses what we do not know how to decide, and fields without the index that the condition needs.
pub(super) fn check(filter: &Filter, indexes: &HashMap<String, FieldType>) -> Result<(), Status> {
    if filter.min_should.is_some() {
        return Err(Status::unimplemented("the test server knows no min_should"));
    }
    for condition in filter.must.iter().chain(&filter.should).chain(&filter.must_not) {
        match &condition.condition_one_of {
            Some(ConditionOneOf::Field(field)) => {
                let kind = match (field.r#match.as_ref().and_then(|m| m.match_value.as_ref()), &field.range) {
                    (Some(MatchValue::Keyword(_) | MatchValue::Keywords(_)), None) => FieldType::Keyword,
                    (Some(MatchValue::Integer(_)), None) | (None, Some(_)) => FieldType::Integer,
                    (Some(MatchValue::Text(_)), None) => FieldType::Text,
                    _ => return Err(Status::unimplemented("the test server does not know this condition")),
                };
                if indexes.get(&field.key) != Some(&kind) {
                    let message = format!(
                        "Bad request: Index required but not found for \"{}\" of one of the following types: [{kind:?}]",
                        field.key
                    );
                    return Err(Status::invalid_argument(message));
                }
            }
            Some(ConditionOneOf::Filter(filter)) => check(filter, indexes)?,
            Some(ConditionOneOf::HasId(_)) => {}
            _ => return Err(Status::unimplemented("the test server does not know this condition")),
        }
    }
    Ok(())
}

/// Decides a filter that was checked.
pub(super) fn passes(filter: &Filter, key: &Key, payload: &HashMap<String, Value>) -> bool {
    let holds = |condition: &Condition| match &condition.condition_one_of {
        Some(ConditionOneOf::Field(field)) => field_holds(field, payload),
        Some(ConditionOneOf::Filter(filter)) => passes(filter, key, payload),
        Some(ConditionOneOf::HasId(list)) => {
            list.has_id.iter().any(|id| Key::parse(Some(id)).is_ok_and(|id| id == *key))
        }
        _ => false,
    };
    filter.must.iter().all(holds)
        && !filter.must_not.iter().any(holds)
        && (filter.should.is_empty() || filter.should.iter().any(holds))
}

/// A field that is a list holds what one of its values holds.
fn field_holds(field: &FieldCondition, payload: &HashMap<String, Value>) -> bool {
    let one = |kind: &Kind| match field.r#match.as_ref().and_then(|m| m.match_value.as_ref()) {
        Some(value) => matches(value, kind),
        None => field.range.as_ref().is_some_and(|range| within(range, kind)),
    };
    match payload.get(&field.key).and_then(|value| value.kind.as_ref()) {
        None => false,
        Some(Kind::ListValue(list)) => list.values.iter().filter_map(|value| value.kind.as_ref()).any(one),
        Some(kind) => one(kind),
    }
}

fn matches(wanted: &MatchValue, kind: &Kind) -> bool {
    match (wanted, kind) {
        (MatchValue::Keyword(wanted), Kind::StringValue(found)) => wanted == found,
        (MatchValue::Keywords(wanted), Kind::StringValue(found)) => wanted.strings.contains(found),
        (MatchValue::Integer(wanted), Kind::IntegerValue(found)) => wanted == found,
        (MatchValue::Text(wanted), Kind::StringValue(found)) => {
            let wanted = words(wanted);
            !wanted.is_empty() && wanted.is_subset(&words(found))
        }
        _ => false,
    }
}

/// As the server's tokenizer `word` with `lowercase`.
fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn within(range: &Range, kind: &Kind) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "the protocol's ranges are 64-bit floats")]
    let number = match kind {
        Kind::IntegerValue(number) => *number as f64,
        Kind::DoubleValue(number) => *number,
        _ => return false,
    };
    range.lt.is_none_or(|bound| number < bound)
        && range.lte.is_none_or(|bound| number <= bound)
        && range.gt.is_none_or(|bound| number > bound)
        && range.gte.is_none_or(|bound| number >= bound)
}
