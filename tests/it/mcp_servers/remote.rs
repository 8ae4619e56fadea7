//! A server that runs already, over streamable HTTP: another luaplan, which wants a key.

use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, AppParts, offer_of_mcp_server};
use luaplan::base::ErrorCode;
use luaplan::journal::{JournalRead as _, RecordFilter};
use serde_json::json;

use super::{accept, failure, run};
use crate::mcp::serve::Serving;

const KEY: &str = "k-0123456789-abcdefghij";
const CALL: &str = "function run()\n  local answer = far.run_lua{program = \"function run() return 6 * 7 end\"}\n  \
                    if answer.error then error(answer.error) end\n  return answer.result\nend";

async fn serving() -> Serving {
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), format!("assistant {KEY}\n")).unwrap();
    // Keys are read once, at the start.
    Serving::start(&[&format!("server.api_keys_file={}", keys.path().display())]).await
}

async fn application(folder: &std::path::Path, serving: &Serving, settings: &str) -> App {
    let base = &serving.client.base;
    std::fs::write(folder.join("luaplan.toml"), format!("[mcp.far]\nurl = \"{base}/mcp\"\n{settings}\n"))
        .unwrap();
    let environment = Environment {
        working_dir: folder.to_path_buf(),
        variables: [("FAR_KEY".to_owned(), format!("Bearer {KEY}"))].into(),
        ..Environment::default()
    };
    let loaded = load(&environment, &LoadOptions::default()).unwrap();
    App::open_with(&loaded, &environment, AppParts::default()).await.unwrap()
}

const HEADERS: &str = "headers = { Authorization = \"env:FAR_KEY\" }";

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_over_http_with_a_secret_nobody_reads() {
    let (folder, serving) = (tempfile::tempdir().unwrap(), serving().await);
    accept(&application(folder.path(), &serving, HEADERS).await, "far").await;
    let app = application(folder.path(), &serving, HEADERS).await;
    let outcome = run(&app, CALL).await;
    assert_eq!(outcome.result.unwrap().to_json(), json!(42));
    let echoed = "function run()\n  return far.run_lua{program = \"function run() return 'k-0123456789-' .. 'abcdefghij' end\"}.result\nend";
    let outcome = run(&app, echoed).await;
    let filter = RecordFilter { run_id: Some(outcome.run_id), ..RecordFilter::default() };
    let records = app.journal().records(filter).await.unwrap();
    let written =
        serde_json::to_string(&records.iter().map(|record| &record.event).collect::<Vec<_>>()).unwrap();
    assert!(written.contains("far.run_lua") && !written.contains(KEY), "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_the_key_is_unavailable() {
    let (folder, serving) = (tempfile::tempdir().unwrap(), serving().await);
    let wrong = "headers = { Authorization = \"Bearer k-wrong\" }";
    // Without a header there is a login to be had, as far as is known.
    for (headers, code, said) in [
        (wrong, ErrorCode::McpUnavailable, "refused (401) what `[mcp.far] headers` sends"),
        ("", ErrorCode::McpLoginRequired, "`headers`"),
    ] {
        let app = application(folder.path(), &serving, headers).await;
        let error = offer_of_mcp_server(app.config(), "far", true).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(said), "{error}");
        assert!(!error.help().contains("log on standard error"), "{}", error.help());
        assert!(!folder.path().join(".luaplan/mcp/far.json").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_went_away_fails_the_call() {
    let (folder, serving) = (tempfile::tempdir().unwrap(), serving().await);
    accept(&application(folder.path(), &serving, HEADERS).await, "far").await;
    let app = application(folder.path(), &serving, HEADERS).await;
    assert_eq!(run(&app, CALL).await.result.unwrap().to_json(), json!(42));
    serving.stop().await;
    let call = "far.run_lua{program = \"function run() return 1 end\"}";
    for _ in 0..2 {
        let failed = failure(&app, call).await;
        assert_eq!(failed["code"], "mcp_unavailable", "{failed}");
    }
}
