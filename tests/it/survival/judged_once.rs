//! An accepted plan resumes as it was accepted, whatever the check would say of it now.

use luaplan::app::{App, ReplayRequest, RunSpec, Work};
use luaplan::base::{RunId, Value};
use luaplan::journal::{JournalRead as _, RecordFilter, RunStatus};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{open, resume};

/// Sleeps for a moment; what it would ask the tool for is not reached.
const PLAN: &str = r#"function run(context)
  if context.reorder then
    local level = stock{ item = "nail" }
    if level.error then return { error = level.error } end
  end
  sleep(2)
  return "done"
end"#;

/// An application on the data in `folder`, with the tool `stock` of these parameters.
async fn with_stock(folder: &std::path::Path, parameters: &str) -> App {
    let manifests = folder.join("luaplan-tools");
    std::fs::create_dir_all(&manifests).unwrap();
    let manifest = format!(
        "name = \"stock\"\ndescription = \"Levels of stock.\"\neffect = \"read\"\nidempotent = true\nkind = \"sql\"\n\
         [params]\ntype = \"object\"\nproperties = {parameters}\nadditionalProperties = false\n\
         [settings]\nsql = \"SELECT n FROM levels WHERE item = :item\"\n"
    );
    std::fs::write(manifests.join("stock.toml"), manifest).unwrap();
    let flags = vec![
        ("tools_dir".to_owned(), manifests.to_str().unwrap().into()),
        ("tools.stock.url".to_owned(), "sqlite:stock.db".into()),
    ];
    open(folder, flags, None).await
}

fn request(app: &App) -> RunSpec {
    RunSpec {
        context: Some(Value::from_iter([("reorder", Value::Bool(false))])),
        ..RunSpec::new(
            Work::Plan { name: "plan".to_owned(), source: PLAN.to_owned() },
            app.config().limits.clone(),
        )
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_plan_resumes_and_replays_under_a_stricter_check() {
    let folder = tempfile::tempdir().unwrap();
    let first = with_stock(folder.path(), "{ item = { type = \"string\" } }").await;
    let request = request(&first);
    let run_id = request.run_id.clone();
    assert_eq!(first.runs().run_to_rest(request).await.status(), RunStatus::Sleeping);
    drop(first);

    let stricter = "{ item = { type = \"string\", enum = [\"bolt\", \"screw\"] } }";
    let app = with_stock(folder.path(), stricter).await;
    let limits = app.config().limits.clone();
    let report = app.plans().check(PLAN, "plan", &limits, None);
    assert!(!report.is_ok(), "the check must refuse the plan now: {:?}", report.findings);

    let outcome = resume(&app, &run_id).await.unwrap();
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{:?}", outcome.error());
    let replayed = ReplayRequest { run_id: run_id.clone(), with: None, cancel: CancellationToken::new() };
    let report = app.runs().replay(replayed).await.unwrap();
    assert!(report.same, "{report:#?}");

    // A new run is judged by what holds now.
    let refused = app.runs().start_over(&run_id, false).await.map(drop).unwrap_err();
    assert_eq!(refused.code().as_str(), "check_refused");
}

/// One analysis is made for each submission, and one is on record, whichever edge it comes by.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submitted_plan_is_checked_once() {
    let service = super::accepted::service().await;
    let app = &service.app;
    let plan = "function run(context) return 1 end";
    let submitted = json!({ "plan": plan, "context": { "n": 7 } });

    let by_http = async {
        let accepted = service.client.post("/v1/runs?wait=25s", &submitted).await;
        assert_eq!(accepted.status, 200, "{}", accepted.text);
        accepted.json()["run_id"].as_str().unwrap().parse().unwrap()
    };
    checked_once(app, "HTTP", by_http).await;

    let by_mcp = async {
        let transport = StreamableHttpClientTransport::from_uri(format!("{}/mcp", service.client.base));
        let peer = ().serve(transport).await.unwrap();
        let arguments = json!({ "program": plan, "context": { "n": 7 } });
        let request =
            CallToolRequestParams::new("run_lua").with_arguments(arguments.as_object().cloned().unwrap());
        let answer = peer.call_tool(request).await.unwrap();
        let answer = answer.structured_content.expect("it is data");
        peer.cancel().await.unwrap();
        answer["run_id"].as_str().unwrap().parse().unwrap()
    };
    checked_once(app, "MCP", by_mcp).await;

    // As the command line does.
    let here = async {
        let work = Work::Plan { name: "plan".to_owned(), source: plan.to_owned() };
        let request = RunSpec { work, ..request(app) };
        let run_id = request.run_id.clone();
        assert_eq!(app.runs().run_to_rest(request).await.status(), RunStatus::Succeeded);
        run_id
    };
    checked_once(app, "the command line", here).await;
}

/// Asserts that `submission`, which ends in a suspended run, makes one analysis and records one.
async fn checked_once(app: &App, edge: &str, submission: impl Future<Output = RunId>) {
    let before = app.plans().analyses_made();
    let run_id = submission.await;
    assert_eq!(app.plans().analyses_made() - before, 1, "by {edge}");
    let filter = RecordFilter { run_id: Some(run_id), ..RecordFilter::default() };
    let records = app.journal().records(filter).await.unwrap();
    let names: Vec<&str> = records.iter().map(|record| record.event.body.name()).collect();
    assert_eq!(names.iter().filter(|name| **name == "plan_checked").count(), 1, "by {edge}: {names:?}");
}
