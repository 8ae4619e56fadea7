//! What answers about runs shorten: the arguments of calls, in lists and beside the run that waits for them.
//!
//! A client finds all of a call under the address that stands beside it. The result and the output of a run are the
//! answer itself, and bounded by the run's limits `output` and `print`.

use serde_json::{Map, Value as Json};

use crate::base::shorten_members;

/// Shortens the calls that the report of a run names.
pub(super) fn run(mut report: Json) -> Json {
    let run_id = report.get("run_id").and_then(Json::as_str).unwrap_or_default().to_owned();
    for place in ["/paused/calls_in_doubt", "/paused/approvals", "/error/calls"] {
        if let Some(calls) = report.pointer_mut(place) {
            shorten(calls, &run_id);
        }
    }
    report
}

/// Shortens a list of requests for approval, each of which names its run.
pub(super) fn approvals(mut list: Json) -> Json {
    shorten(&mut list, "");
    list
}

fn shorten(calls: &mut Json, run_id: &str) {
    for call in calls.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
        let shortened = arguments(call);
        let (own, call_id) = (text(call, "run_id"), text(call, "call_id"));
        if !shortened.is_empty() {
            let run_id = if own.is_empty() { run_id } else { &own };
            call.insert("shortened".into(), shortened.into());
            call.insert("whole".into(), format!("/v1/runs/{run_id}/calls/{call_id}").into());
        }
    }
}

fn arguments(call: &mut Map<String, Json>) -> Vec<String> {
    call.get_mut("arguments").and_then(Json::as_object_mut).map(shorten_members).unwrap_or_default()
}

fn text(call: &Map<String, Json>, name: &str) -> String {
    call.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}
