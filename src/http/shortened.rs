//! How much of a run a response shows, and the address of the rest.

use serde_json::Value as Json;

use luaplan_app::{shorten_approvals, shorten_calls, shortened};

use super::help::HELP;
use super::state::ApiState;

/// The report of a run, within `server.result_max`.
pub(super) fn run(state: &ApiState, mut report: Json) -> Json {
    HELP.say_for_run(&mut report);
    let report = shorten_calls(report, &call_address);
    let Some(run_id) = report.get("run_id").and_then(Json::as_str).map(str::to_owned) else { return report };
    shortened(report, state.app.config().server.answers.result_bytes_max, &|path, offset| {
        part_address(&run_id, path, offset).into()
    })
}

/// A list of requests for approval.
pub(super) fn approvals(list: Json) -> Json {
    shorten_approvals(list, &call_address)
}

/// The address at which a part of a run continues.
pub(super) fn part_address(run_id: &str, path: &str, offset: usize) -> String {
    let path: String = url::form_urlencoded::byte_serialize(path.as_bytes()).collect();
    format!("/v1/runs/{run_id}/result?path={path}&offset={offset}")
}

fn call_address(run_id: &str, call_id: &str) -> Json {
    format!("/v1/runs/{run_id}/calls/{call_id}").into()
}
