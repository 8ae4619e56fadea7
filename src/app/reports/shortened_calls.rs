//! What answers about runs shorten: the arguments of calls, in lists and beside the run that waits for them.
//!
//! A client finds all of a call where `whole` says, which stands beside it.

use serde_json::{Map, Value as Json};

use luaplan_base::shorten_members;

/// Says where all of a call is, by the ids of its run and of the call.
pub type Whole<'w> = dyn Fn(&str, &str) -> Json + 'w;

/// Shortens the calls that the report of a run names.
#[must_use]
pub fn shorten_calls(mut report: Json, whole: &Whole<'_>) -> Json {
    let run_id = report.get("run_id").and_then(Json::as_str).unwrap_or_default().to_owned();
    for place in ["/paused/calls_in_doubt", "/paused/approvals", "/error/calls"] {
        if let Some(calls) = report.pointer_mut(place) {
            shorten(calls, &run_id, whole);
        }
    }
    report
}

/// Shortens a list of requests for approval, each of which names its run.
#[must_use]
pub fn shorten_approvals(mut list: Json, whole: &Whole<'_>) -> Json {
    shorten(&mut list, "", whole);
    list
}

fn shorten(calls: &mut Json, run_id: &str, whole: &Whole<'_>) {
    for call in calls.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
        let shortened = arguments(call);
        let (own, call_id) = (text(call, "run_id"), text(call, "call_id"));
        if !shortened.is_empty() {
            let run_id = if own.is_empty() { run_id } else { &own };
            call.insert("shortened".into(), shortened.into());
            call.insert("whole".into(), whole(run_id, &call_id));
        }
    }
}

fn arguments(call: &mut Map<String, Json>) -> Vec<String> {
    call.get_mut("arguments").and_then(Json::as_object_mut).map(shorten_members).unwrap_or_default()
}

fn text(call: &Map<String, Json>, name: &str) -> String {
    call.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}
