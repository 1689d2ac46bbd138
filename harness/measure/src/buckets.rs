//! Converts histograms from languages without HdrHistogram. They send log-linear buckets, as pairs of a value and a
//! count; records hold them as HdrHistograms like all others.

use hdrhistogram::Histogram;
use serde_json::Value;

use super::protocol::encode_histogram;

/// Where a sample may hold histograms.
const PLACES: [&str; 5] = [
    "/latency/response",
    "/latency/service",
    "/latency/generator",
    "/lateness/called",
    "/lateness/claimed",
];
/// Significant digits of a bucket's value, as in our own histograms.
const DIGITS: u8 = 3;

/// Replaces the lists of buckets in an answer by histograms. The rest of the answer is left alone.
///
/// # Errors
/// Names the invalid pair.
pub(super) fn condense(answer: &mut Value) -> Result<(), String> {
    for place in PLACES {
        if let Some(histogram) = answer.pointer_mut(place)
            && let Some(buckets) = histogram.as_array()
        {
            *histogram = Value::String(encode_histogram(&histogram_of(buckets)?));
        }
    }
    Ok(())
}

fn histogram_of(buckets: &[Value]) -> Result<Histogram<u64>, String> {
    let mut histogram = Histogram::new(DIGITS).expect("three digits are possible");
    for bucket in buckets {
        let pair = bucket.as_array().map(Vec::as_slice);
        let Some([value, count]) = pair else {
            return Err(format!("{bucket} is no bucket: a value and a count"));
        };
        let (Some(value), Some(count)) = (value.as_u64(), count.as_u64()) else {
            return Err(format!("{bucket} is no bucket of whole nanoseconds"));
        };
        let recorded = histogram.record_n(value, count);
        recorded.map_err(|why| format!("{bucket} fits no histogram: {why}"))?;
        // The histogram's encoding stores signed counts.
        if i64::try_from(histogram.count_at(value)).is_err() {
            return Err(format!(
                "{bucket} fits no histogram: the count is too large"
            ));
        }
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::protocol::decode_histogram;
    use super::*;

    #[test]
    fn buckets_become_the_histogram_that_was_meant() {
        let text = "not looked at";
        let mut answer = json!({
            "answer": "sample",
            "latency": {"response": [[1_000, 3], [50_000_000, 1]], "service": text, "generator": []},
            "lateness": {"called": [[7, 2]], "early": 0},
        });
        condense(&mut answer).unwrap();
        let read = |place: &str| {
            let text = answer.pointer(place).and_then(Value::as_str);
            decode_histogram(text.expect("a histogram")).unwrap()
        };
        let response = read("/latency/response");
        assert_eq!((response.len(), response.min()), (4, 1_000));
        assert!(response.equivalent(response.max(), 50_000_000));
        assert!(read("/latency/generator").is_empty());
        assert_eq!(read("/lateness/called").len(), 2);
        assert_eq!(answer["latency"]["service"], text);
    }

    #[test]
    fn what_is_no_bucket_is_refused() {
        for bad in [
            json!([1]),
            json!([1, 2, 3]),
            json!([-1, 2]),
            json!([1.5, 2]),
            json!([1, u64::MAX]),
            json!(7),
        ] {
            let mut answer = json!({"latency": {"response": [bad]}});
            assert!(condense(&mut answer).is_err(), "{answer}");
        }
    }
}
