//! Events that settle something: all or none, once, across writers.

use luaplan::journal::{ConflictGuard, JournalRead as _, RecordFilter, ResolutionKind, Settled};

use super::places::places;
use super::*;

const BY: &[&str] = &["call_resolved", "run_finished"];

fn unless(after_sequence: u64) -> ConflictGuard {
    ConflictGuard { run_id: run_id(1), call_id: CallId::single(1), after_sequence, by_events: BY }
}

fn resolved(call: u64, message: &str) -> EventBody {
    EventBody::CallResolved {
        call_id: CallId::single(call),
        resolution: ResolutionKind::Failed.into(),
        result: None,
        message: Some(message.into()),
        by: None,
        os_user: None,
    }
}

fn decision(message: &str) -> Vec<Event> {
    vec![event(1, 1, resolved(1, message)), event(1, 1, EventBody::Printed { text: message.into() })]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_writers_one_settles_and_the_log_stays_whole() {
    for place in places("settling").await {
        let first = place.open().await;
        first.append(event(1, 0, started("x")), Durability::Ordered).await.unwrap();
        let others = futures::future::join_all((0..3).map(|_| place.open())).await;
        let journals: Vec<_> = std::iter::once(&first).chain(&others).collect();
        let settled =
            futures::future::join_all(journals.iter().enumerate().map(|(number, journal)| async move {
                // Other appends continue meanwhile.
                journal.append(event(2, 1, started("y")), Durability::Ordered).await.unwrap();
                journal.settle(decision(&format!("by {number}")), unless(1)).await.unwrap()
            }))
            .await;
        let written: Vec<_> = settled
            .iter()
            .filter_map(|one| match one {
                Settled::Written(records) => Some(records),
                Settled::Conflict(_) => None,
            })
            .collect();
        assert_eq!(written.len(), 1, "{settled:?}");
        assert_eq!(written[0].len(), 2);
        for one in &settled {
            if let Settled::Conflict(first) = one {
                assert_eq!(first.sequence, written[0][0].sequence);
            }
        }
        let filter = RecordFilter { run_id: Some(run_id(1)), ..RecordFilter::default() };
        assert_eq!(first.records(filter).await.unwrap().len(), 3);
        assert!(first.verify().await.unwrap().ok);
    }
}

#[tokio::test]
async fn only_what_is_about_the_call_or_ends_its_run_makes_it_too_late() {
    for place in places("settling").await {
        let journal = place.open().await;
        for body in [started("x"), resolved(1, "earlier"), resolved(2, "another call")] {
            journal.append(event(1, 0, body), Durability::Ordered).await.unwrap();
        }
        journal.append(event(2, 0, finished()), Durability::Ordered).await.unwrap();
        let Settled::Written(_) = journal.settle(vec![], unless(2)).await.unwrap() else {
            panic!("too late")
        };
        journal.append(event(1, 0, finished()), Durability::Ordered).await.unwrap();
        match journal.settle(decision("late"), unless(2)).await.unwrap() {
            Settled::Conflict(first) => assert_eq!(first.event.body.name(), "run_finished"),
            Settled::Written(_) => panic!("a run that has ended was written to"),
        }
        // A refusal leaves the writer as it was.
        journal.append(event(2, 0, started("z")), Durability::Forced).await.unwrap();
        assert!(journal.verify().await.unwrap().ok);
    }
}
