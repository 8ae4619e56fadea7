//! Named contexts on disk.

use luaplan::base::{ErrorCode, Value};
use luaplan::journal::{ContextStore, NewContext, ProblemKind};
use sqlx::Executor as _;

use super::places::places;
use super::*;

fn new(name: &str, value: i64, expected_version: Option<u64>) -> NewContext {
    NewContext {
        name: name.into(),
        context: Value::from_iter([("n", Value::from(value))]),
        run_id: Some(run_id(1)),
        at: event(1, value, finished()).at,
        expected_version,
    }
}

#[tokio::test]
async fn a_context_comes_back_in_every_version_after_a_restart() {
    for place in places("named contexts").await {
        let journal = place.open().await;
        let contexts = journal.contexts();
        let first = contexts.save(new("daily.report", 1, None)).await.unwrap();
        let second = contexts.save(new("daily.report", 2, Some(1))).await.unwrap();
        contexts.save(new("other", 5, None)).await.unwrap();
        assert_eq!((first.version, second.version), (1, 2));
        journal.close().await;

        let contexts = place.open().await.contexts();
        let newest = contexts.load("daily.report", None).await.unwrap().unwrap();
        assert_eq!(newest.info, second);
        assert_eq!(newest.context, new("", 2, None).context);
        assert_eq!(contexts.load("daily.report", Some(1)).await.unwrap().unwrap().info, first);
        assert_eq!(contexts.load("daily.report", Some(3)).await.unwrap(), None);
        assert_eq!(contexts.load("nothing", None).await.unwrap(), None);
        let names: Vec<_> = contexts.list().await.unwrap().into_iter().map(|c| (c.name, c.version)).collect();
        assert_eq!(names, [("daily.report".to_owned(), 2), ("other".to_owned(), 1)]);
    }
}

#[tokio::test]
async fn of_saves_that_build_on_the_same_version_one_wins() {
    for place in places("named contexts").await {
        let (one, two) = (place.open().await, place.open().await);
        one.contexts().save(new("shared", 0, Some(0))).await.unwrap();
        let saves = (1..=8).map(|value| {
            let contexts = if value % 2 == 0 { one.contexts() } else { two.contexts() };
            tokio::spawn(async move { contexts.save(new("shared", value, Some(1))).await })
        });
        let mut won = 0;
        for save in saves.collect::<Vec<_>>() {
            match save.await.unwrap() {
                Ok(_) => won += 1,
                Err(error) => assert_eq!(error.code(), ErrorCode::ContextConflict),
            }
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test]
async fn a_changed_or_removed_context_is_found() {
    let dir = Dir::new();
    let journal = dir.open().await;
    for value in 1..=3 {
        journal.contexts().save(new("daily", value, None)).await.unwrap();
    }
    let mut raw = dir.raw().await;
    assert!(raw.execute("DELETE FROM contexts").await.is_err());
    raw.execute("DROP TRIGGER contexts_no_update").await.unwrap();
    raw.execute("UPDATE contexts SET body = '{\"n\":9}' WHERE version = 3").await.unwrap();
    let error = journal.contexts().load("daily", None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalCorrupt);
    raw.execute("DROP TRIGGER contexts_no_delete").await.unwrap();
    raw.execute("DELETE FROM contexts WHERE version = 2").await.unwrap();
    let report = journal.verify().await.unwrap();
    let found = report.problems.iter().filter(|problem| problem.kind == ProblemKind::Context).count();
    assert_eq!(found, 2, "{report:?}");
}
