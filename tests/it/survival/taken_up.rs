//! A service that starts resumes the runs of a killed process.

use std::sync::Arc;

use luaplan::base::RunId;
use luaplan::demo::DemoParts;
use luaplan::http::Server;
use luaplan::journal::{JournalRead as _, RunStatus};

use super::resume::in_doubt;
use super::{Case, Job, Kill, open};

/// A run of a plan that reads and sends, killed after its intent to read was written.
fn killed(parts: &DemoParts, folder: &std::path::Path) -> RunId {
    let run_id = RunId::generate();
    let job = Job {
        folder: folder.to_owned(),
        flags: parts.configuration(),
        run_id: run_id.to_string(),
        case: Case {
            name: "left".to_owned(),
            source: "function run() local rows = query_db{ table = 'users' } \
                     local sent = send_email('admin@company.com', 'once', tostring(#rows)) return sent.error == nil end"
                .to_owned(),
            context: serde_json::json!({}),
            limits: Vec::new(),
        },
        kill: Some(Kill { write: 5, after: true }),
        decides: false,
        stops: false,
    };
    assert!(!job.run().success());
    run_id
}

async fn ended(app: &luaplan::app::App, run_id: &RunId) -> RunStatus {
    for _ in 0..1_000 {
        let state = app.journal().run_state(run_id).await.unwrap().unwrap();
        if state.status != RunStatus::Running {
            return state.status;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("run {run_id} was not taken up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_goes_on_with_runs_whose_process_is_gone() {
    for wanted in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
        let doubtful = in_doubt(&parts, folder.path()).await;
        let left = killed(&parts, folder.path());
        let mut flags = parts.configuration();
        flags.push(("server.listen".to_owned(), "127.0.0.1:0".into()));
        flags.push(("server.take_up_runs".to_owned(), wanted.into()));
        let app = Arc::new(open(folder.path(), flags, None).await);
        let server = Server::bind(app.clone()).await.unwrap();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let serving = tokio::spawn(server.run(move || {
            let mut stopped = stopped.clone();
            async move {
                // A dropped sender is a stop as well.
                let _ = stopped.wait_for(|stop| *stop).await;
                "SIGTERM"
            }
        }));
        if wanted {
            assert_eq!(ended(&app, &left).await, RunStatus::Succeeded);
            assert_eq!(ended(&app, &doubtful).await, RunStatus::Paused);
            assert_eq!(parts.received().len(), 2);
        }
        stop.send(true).unwrap();
        serving.await.unwrap();
        if !wanted {
            assert_eq!(app.runs().abandoned_runs().await.unwrap().len(), 2);
            assert_eq!(parts.received().len(), 1);
        }
        parts.stop().await;
    }
}
