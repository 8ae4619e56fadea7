//! Resuming a run, by the number of its recorded calls: its records are read and folded, and its plan runs from the
//! top until it sleeps again.

use std::path::Path;

use criterion::Criterion;
use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, ResumeRequest, RunSpec, Work};
use luaplan::base::{RunId, Value};
use luaplan::journal::RunStatus;
use tokio_util::sync::CancellationToken;

use crate::parts::runtime;

const PLAN: &str = r#"
function run(context)
  for n = 1, context.calls do
    local text = transform_data({ n = n, name = "User " .. n }, "{{ n }}: {{ name }}", "text")
    if text ~= n .. ": User " .. n then error(text.error or text) end
  end
  sleep(86400)
end
"#;

pub(crate) fn bench(criterion: &mut Criterion) {
    luaplan::llm::install_crypto_provider();
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap();
    let app = runtime.block_on(open(folder.path()));
    let mut group = criterion.benchmark_group("resume");
    group.sample_size(20);
    for calls in [0, 100, 1_000] {
        let run_id = runtime.block_on(asleep(&app, calls));
        group.bench_function(format!("{calls}_recorded_calls"), |bencher| {
            bencher.to_async(&runtime).iter(async || {
                let request = ResumeRequest::new(run_id.clone(), CancellationToken::new());
                let outcome = app.runs().resume_to_rest(request).await.unwrap();
                assert_eq!(outcome.status(), RunStatus::Sleeping, "{outcome:?}");
            });
        });
    }
    group.finish();
    runtime.block_on(app.journal().close());
}

async fn open(folder: &Path) -> App {
    let environment = Environment { working_dir: folder.to_path_buf(), ..Environment::default() };
    let flags = [
        ("limits.profile", "generous"),
        ("rates.run", "1000000/s"),
        ("tools.transform_data.rate", "1000000/s"),
        ("sandbox.isolation", "in-process"),
    ];
    let mut flags: Vec<(String, toml::Value)> =
        flags.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    for key in ["rates.run_burst", "tools.transform_data.burst"] {
        flags.push((key.to_owned(), 1_000_000.into()));
    }
    let loaded = load(&environment, &LoadOptions { file: None, flags }).unwrap();
    App::open(&loaded, &environment).await.unwrap()
}

/// A run that made so many calls and sleeps.
async fn asleep(app: &App, calls: i64) -> RunId {
    let request = RunSpec {
        context: Some(Value::from_iter([("calls", Value::Integer(calls))])),
        ..RunSpec::new(
            Work::Plan { name: "plan".to_owned(), source: PLAN.to_owned() },
            app.config().limits.clone(),
        )
    };
    let outcome = app.runs().run_to_rest(request).await;
    assert_eq!(outcome.status(), RunStatus::Sleeping, "{outcome:?}");
    outcome.run_id
}
