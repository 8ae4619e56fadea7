//! A server that misbehaves: each case fails its own call, and the next call works.

use serde_json::{Value as Json, json};

use super::{accepted, failure, result};

async fn seen(settings: &[(&str, &str)], call: &str) -> (Json, Json) {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), settings).await;
    let failed = failure(&app, call).await;
    (failed, failure(&app, "small.echo{text = \"still here\"}").await["worked"]["said"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_says_of_its_failure_reaches_the_plan() {
    let (failed, after) = seen(&[], "small.fails{}").await;
    assert_eq!(failed["code"], "mcp_failed");
    assert!(failed["error"].as_str().unwrap().contains("no such thing"), "{failed}");
    assert_eq!(after, "still here");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_runs_into_the_timeout_of_its_call() {
    let (failed, after) = seen(&[("tools.\"small.hang\".timeout", "\"300ms\"")], "small.hang{}").await;
    assert_eq!((&failed["code"], &after), (&json!("tool_timeout"), &json!("still here")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_is_started_again() {
    let (failed, after) = seen(&[], "small.die{}").await;
    assert_eq!((&failed["code"], &failed["retryable"]), (&json!("mcp_unavailable"), &json!(false)));
    assert_eq!(after, "still here");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_again_and_again_is_left_alone_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(failure(&app, "small.die{}").await);
    }
    let starts = std::fs::read_to_string(folder.path().join("starts")).unwrap().lines().count();
    assert!(codes.iter().all(|failure| failure["code"] == "mcp_unavailable"), "{codes:?}");
    // The third call finds it broken twice, and is not made.
    assert_eq!(codes[2]["retryable"], true, "{codes:?}");
    // Once to accept, then for the first two calls.
    assert!(starts <= 4, "{starts} starts");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods_is_cut_off() {
    let (failed, after) = seen(&[("tools.\"small.flood\".timeout", "\"30s\"")], "small.flood{}").await;
    assert_eq!((&failed["code"], &after), (&json!("mcp_unavailable"), &json!("still here")), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_nobody_and_garbage_are_passed_over() {
    let (failed, after) = seen(&[("tools.\"small.liar\".timeout", "\"300ms\"")], "small.liar{}").await;
    assert_eq!((&failed["code"], &after), (&json!("tool_timeout"), &json!("still here")));
    let (passed, after) = seen(&[], "small.garbage{}").await;
    assert_eq!((&passed["worked"], &after), (&json!("after"), &json!("still here")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_its_own_schema_does_not_allow_is_refused() {
    let (failed, after) = seen(&[], "small.lies{}").await;
    assert_eq!((&failed["code"], &after), (&json!("mcp_result_invalid"), &json!("still here")));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_out_of_order_find_their_calls() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let plan = "function run()\n  local all = parallel{function() return small.first{} end, function() return \
                small.second{} end}\n  return { all[1], all[2] }\nend";
    assert_eq!(result(&app, plan).await, json!(["first", "second"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_a_failure_with_words() {
    let folder = tempfile::tempdir().unwrap();
    drop(accepted(folder.path(), &[]).await);
    let settings = [("mcp.small.command", "[\"/no/such/program\"]")];
    let app = crate::http_support::open(folder.path(), &settings, None).await;
    let failed = failure(&app, "small.echo{text = \"a\"}").await;
    assert_eq!(
        (&failed["code"], &failed["retryable"]),
        (&json!("mcp_unavailable"), &json!(true)),
        "{failed}"
    );
}
