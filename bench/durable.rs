//! `--durable STORE KIND AMOUNTS`: ten steps as journaled runs, luaplan's side of `peers/durable`. Prints one line
//! of JSON for each amount.
//!
//! STORE is a folder or an address of PostgreSQL; KIND says which of the ten steps change the world: `reading`
//! (none), `sending` (the last), `all_sending`; AMOUNTS is a list of `[AT_ONCE, RUNS]`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::{FutureExt as _, StreamExt as _};
use luaplan::base::{CallOutcome, RunId, Value};
use luaplan::bus::{Invocation, Tool};
use luaplan::catalog::{ToolSpec, read_manifest};
use luaplan::journal::{
    Durability, FencedWriter, JournalWrite, PostgresJournal, PostgresSettings, RunLog, SqliteJournal,
};
use serde_json::json;

use crate::journal::run;
use crate::parts::{World, runtime};

const LEASE: Duration = Duration::from_secs(15);

/// Adds one.
struct Step(ToolSpec);

#[async_trait]
impl Tool for Step {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        let Value::Object(arguments) = &invocation.arguments else { panic!("{:?}", invocation.arguments) };
        let Some(Value::Integer(n)) = arguments.get("n") else { panic!("{arguments:?}") };
        Ok(Value::from_iter([("n", Value::Integer(n + 1))]))
    }
}

fn step(name: &str, effect: &str) -> Arc<dyn Tool> {
    let manifest = format!(
        "name = \"{name}\"\ndescription = \"d\"\nkind = \"builtin\"\neffect = \"{effect}\"\n\
         rate = \"100000000/s\"\nburst = 100000000\nconcurrency = 10000\n\
         [params]\ntype = \"object\"\n[params.properties.n]\ntype = \"integer\"\n"
    );
    Arc::new(Step(read_manifest(&manifest, name).unwrap()))
}

fn source(kind: &str) -> String {
    let (most, last) = match kind {
        "reading" => ("look", "look"),
        "sending" => ("look", "act"),
        "all_sending" => ("act", "act"),
        other => panic!("`{other}` is neither `reading`, `sending` nor `all_sending`"),
    };
    format!(
        "function run()\n  local n = 0\n  for _ = 1, 9 do\n    n = {most}(n).n\n  end\n  n = {last}(n).n\n  \
         if n ~= 10 then error(\"ten steps came to \" .. n) end\n  return n\nend"
    )
}

enum Store {
    Sqlite(Arc<dyn JournalWrite>),
    Postgres(Arc<PostgresJournal>),
}

impl Store {
    async fn open(place: &str) -> Self {
        if !place.starts_with("postgres") {
            return Self::Sqlite(Arc::new(
                SqliteJournal::open(&Path::new(place).join("journal.db")).await.unwrap(),
            ));
        }
        let settings = PostgresSettings { url: place.to_owned().into(), lease: LEASE, anchors: None };
        Self::Postgres(Arc::new(PostgresJournal::open(&settings).await.unwrap()))
    }

    /// The log of a run, owned by this process where several nodes could own it.
    async fn log(&self, world: &World) -> RunLog {
        match self {
            Self::Sqlite(journal) => world.log(journal),
            Self::Postgres(journal) => {
                let run_id = RunId::generate();
                let held = journal.leases().unwrap().acquire(&run_id).await.unwrap();
                let pen: Arc<dyn JournalWrite> =
                    Arc::new(FencedWriter::new(Arc::clone(journal), Arc::new(held)));
                world.log_of(run_id, &pen)
            }
        }
    }
}

/// Runs if the command line asks for it; says whether it did.
#[expect(clippy::print_stdout, reason = "the runner reads it")]
pub(crate) fn asked() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == "--durable") else { return false };
    let [place, kind, amounts] = &arguments[at + 1..at + 4] else { panic!("{arguments:?}") };
    let amounts: Vec<(usize, usize)> = serde_json::from_str(amounts).unwrap();
    let world = Arc::new(World::of([step("look", "read"), step("act", "send")]).keeping_vms());
    let plan = world.plan(&source(kind));
    runtime().block_on(async {
        let store = Arc::new(Store::open(place).await);
        for (at_once, runs) in amounts {
            // The first tenth warms up.
            for runs in [at_once.max(runs / 10), runs] {
                let begun = Instant::now();
                // Each in a task of its own, as in a service.
                let timed = futures::stream::iter(0..runs).map(|_| {
                    let (world, store, plan) = (Arc::clone(&world), Arc::clone(&store), plan.clone());
                    tokio::spawn(async move {
                        let begun = Instant::now();
                        run(&world, &plan, store.log(&world).await, Durability::Forced).await;
                        begun.elapsed()
                    })
                    .map(Result::unwrap)
                });
                let mut times: Vec<Duration> = timed.buffer_unordered(at_once).collect().await;
                let seconds = begun.elapsed().as_secs_f64();
                times.sort_unstable();
                println!(
                    "{}",
                    json!({
                        "at_once": at_once,
                        "runs": runs,
                        "runs_per_second": runs as f64 / seconds,
                        "median_ms": times[times.len() / 2].as_secs_f64() * 1000.0,
                    })
                );
            }
        }
    });
    true
}
