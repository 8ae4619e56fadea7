use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use luaplan_engine::Isolation;
use luaplan_journal::{Actor, Durability, EventBody, JournalRead as _, RecordFilter, RunStatus};

use crate::config::{Environment, LoadOptions, load};
use crate::{ActiveRuns, App, AppParts, RunSpec, Work};

#[tokio::test]
async fn a_run_cancelled_as_it_comes_to_rest_names_the_caller_that_asked_first() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment { working_dir: folder.path().to_path_buf(), ..Environment::default() };
    let data_dir = ("data_dir".to_owned(), folder.path().display().to_string().into());
    let options = LoadOptions { flags: vec![data_dir], ..LoadOptions::default() };
    let parts = AppParts { isolation: Isolation::InProcess, ..AppParts::default() };
    let app = App::open_with(&load(&environment, &options).unwrap(), &environment, parts).await.unwrap();
    let runs = Arc::new(ActiveRuns::new(Arc::new(app.clone())));

    let source = "function run() sleep(600) end".to_owned();
    let spec = RunSpec::new(Work::Plan { name: "plan".to_owned(), source }, app.config().limits.clone());
    let run_id = spec.run_id.clone();
    let place = runs.registry().place(run_id.clone(), String::new(), spec.cancel.clone(), 1).unwrap();
    let outcome = app.runs().execute(app.runs().start(spec, None, Durability::Forced).await.unwrap()).await;
    assert_eq!(outcome.status(), RunStatus::Sleeping);
    assert!(!runs.registry().has(&run_id), "its sleep is on record");

    for caller in ["first", "second"] {
        runs.cancel(&run_id, Some(&Actor::named(caller))).await.unwrap();
    }
    runs.leave(place, outcome).await;
    let filter = RecordFilter { run_id: Some(run_id.clone()), newest_first: true, ..RecordFilter::default() };
    let last = &app.journal().records(filter).await.unwrap()[0].event.body;
    assert!(matches!(last, EventBody::RunCancelled { by: Some(by), .. } if by == "first"), "{last:?}");
    let again = runs.registry().place(run_id, String::new(), CancellationToken::new(), 1);
    assert!(again.is_ok(), "its place was given back");
}
