//! What a service has accepted is on record before it says so.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use luaplan::app::{App, JournalLayer};
use luaplan::base::{Result, RunId};
use luaplan::http::Server;
use luaplan::journal::{
    ConflictGuard, Durability, Event, JournalRead as _, JournalWrite, Record, RunStatus, Settled,
};
use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use super::open;
use crate::http_support::Client;

/// Keeps each record only after a while.
struct Slow(Arc<dyn JournalWrite>);

#[async_trait]
impl JournalWrite for Slow {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.0.append(event, durability).await
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        self.0.settle(events, unless).await
    }

    async fn check_fence(&self) -> Result<()> {
        self.0.check_fence().await
    }

    async fn release_lease(&self) -> Result<()> {
        self.0.release_lease().await
    }
}

/// A service whose journal is slow.
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) client: Client,
    _serving: AbortOnDropHandle<()>,
    _folder: tempfile::TempDir,
}

pub(crate) async fn service() -> Service {
    let folder = tempfile::tempdir().unwrap();
    let layer: JournalLayer = Arc::new(|journal| Arc::new(Slow(journal)));
    let flags = vec![("server.listen".to_owned(), "127.0.0.1:0".into())];
    let app = Arc::new(open(folder.path(), flags, Some(layer)).await);
    let server = Server::bind(app.clone()).await.unwrap();
    let mcp = luaplan::mcp::http_service(server.runs(), server.address(), server.closing());
    let server = server.mount("/mcp", mcp);
    let client = Client::new(&format!("http://{}", server.address()));
    let serving = tokio::spawn(server.run(std::future::pending::<&'static str>));
    Service { app, client, _serving: AbortOnDropHandle::new(serving), _folder: folder }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_on_record_with_its_plan_before_it_is_accepted() {
    let Service { app, client, .. } = &service().await;
    let plan = "function run(context) return context.n end";
    let accepted = client.post("/v1/runs", &json!({ "plan": plan, "context": { "n": 7 } })).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text);
    let run_id = accepted.json()["run_id"].as_str().unwrap().to_owned();
    let state = app.journal().run_state(&run_id.parse().unwrap()).await.unwrap();
    let state = state.expect("it is on record");
    assert_eq!((state.source.as_deref(), &state.context), (Some(plan), &json!({ "n": 7 })));
    assert_eq!(client.until_ended(&run_id).await["result"], 7);
    let names: Vec<&str> = crate::http_support::records(app, &run_id)
        .await
        .iter()
        .map(|record| record.event.body.name())
        .collect();
    for once in ["run_started", "plan_proposed", "run_finished"] {
        assert_eq!(names.iter().filter(|name| **name == once).count(), 1, "{names:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_takes_a_run_for_left_while_its_end_is_written() {
    let Service { app, client, .. } = &service().await;
    let plan = "function run() sleep(86400) end";
    let accepted = client.post("/v1/runs", &json!({ "plan": plan })).await;
    let run_id: RunId = accepted.json()["run_id"].as_str().unwrap().parse().unwrap();
    while app.journal().run_summary(&run_id).await.unwrap().unwrap().status == RunStatus::Running {
        let abandoned = app.runs().abandoned_runs().await.unwrap();
        assert_eq!(abandoned, [], "its end is being written");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(app.runs().abandoned_runs().await.unwrap(), []);
}
