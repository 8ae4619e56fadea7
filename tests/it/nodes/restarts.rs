//! The database's server is restarted under load, in order and as by a crash. No run is lost, no effect repeated
//! beyond the rules.

use std::sync::Arc;
use std::time::Duration;

use super::load::{judge, post_all, three};
use super::{Ledger, Node};
use crate::postgres_cluster::{Cluster, Stop};
use crate::postgres_support::Database;

const RUNS: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_restarted_under_load_loses_no_run_and_repeats_no_effect() {
    let Some(cluster) = Cluster::start("a database that is restarted") else { return };
    let cluster = Arc::new(cluster);
    for stop in [Stop::Fast, Stop::Immediate] {
        let database = Database::at(cluster.url()).await;
        let ledger = Ledger::start().await;
        let (nodes, clients) = three(&database, &ledger).await;
        let restarting = async {
            for share in [RUNS, RUNS * 2, RUNS * 3] {
                ledger.asked(share, 0).await;
                let cluster = Arc::clone(&cluster);
                tokio::task::spawn_blocking(move || cluster.restart(stop)).await.unwrap();
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let (accepted, ()) = tokio::join!(post_all(&clients, RUNS), restarting);
        assert_eq!(accepted.len(), RUNS);
        let (repeated, asked) = judge(&database, &ledger, &clients, &accepted).await;
        eprintln!(
            "{stop:?}: {RUNS} runs, {repeated} effects asked for again under their key, \
             a person asked about {asked} runs"
        );
        futures::future::join_all(nodes.into_iter().map(Node::stop)).await.into_iter().for_each(|code| {
            assert_eq!(code, Some(0));
        });
    }
}
