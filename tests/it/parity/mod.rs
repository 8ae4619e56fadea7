//! The same calls of tools of every kind: what the bus does about them is the same for all. Further
//! kinds of tools join by a line in [`Kind::ALL`] and a tool of the name `echo` with one parameter.

mod agents;

use luaplan::app::offer_of_mcp_server;
use luaplan::base::{CallArguments, CallRequest, RunId, Value};
use luaplan::bus::{Bus, BusParts, CallHandler as _, Limiter, LimiterSettings, Policy, RunBudget};
use luaplan::journal::{
    EventBody, JournalRead as _, JournalWrite, MemoryJournal, RecordFilter, Redactor, RunLog,
};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

use crate::manifest_tools::{Shop, manifest};

/// What a tool is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `query_db`, under its own name.
    Builtin,
    Http,
    Sql,
    Command,
    /// A tool of a child process that speaks the Model Context Protocol.
    Mcp,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Builtin, Self::Http, Self::Sql, Self::Command, Self::Mcp];

    fn tool(self) -> &'static str {
        match self {
            Self::Builtin => "query_db",
            Self::Mcp => "child.echo",
            _ => "echo",
        }
    }
}

/// One tool of a kind, with the same limits for all. A call succeeds, except with `fail = true`.
struct Stand {
    shop: Shop,
    kind: Kind,
    _server: Option<tokio::task::JoinHandle<()>>,
}

const LIMITS: [(&str, &str); 4] =
    [("rate", "\"1/h\""), ("burst", "3"), ("timeout", "\"5s\""), ("concurrency", "2")];

impl Stand {
    async fn of(kind: Kind) -> Self {
        Self::with(kind, &[]).await
    }

    /// With further configuration.
    async fn with(kind: Kind, further: &[(&str, &str)]) -> Self {
        let params = "{ sql = { type = \"string\" } }";
        let mut settings: Vec<(String, String)> = LIMITS
            .iter()
            .map(|(key, value)| (format!("tools.\"{}\".{key}", kind.tool()), (*value).to_owned()))
            .collect();
        settings.extend(further.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        let mut add = |key: &str, value: &str| settings.push((key.to_owned(), value.to_owned()));
        add("rates.wait_max", "\"0s\"");
        let mut server = None;
        let text = match kind {
            Kind::Builtin => {
                add("tools.query_db.databases", "{ main = \"sqlite:main.db\" }");
                None
            }
            Kind::Mcp => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mcp/echo.sh");
                add("mcp.child.command", &format!("[\"/bin/sh\", {:?}]", script.display().to_string()));
                None
            }
            Kind::Sql => {
                add("tools.echo.url", "\"sqlite:main.db\"");
                Some("[settings]\nsql = \"SELECT :sql AS said\"".to_owned())
            }
            Kind::Command => {
                add("tools.echo.unconfined", "true");
                Some(
                    "[settings]\nargv = [\"printf\", '[{{\"said\":\"%s\"}}]', \"{sql}\"]\noutput = \"json\""
                        .to_owned(),
                )
            }
            Kind::Http => {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let app = axum::Router::new().fallback(|| async { axum::Json(json!([{ "said": "x" }])) });
                server = Some(tokio::spawn(async move { axum::serve(listener, app).await.unwrap() }));
                add("tools.echo.allow_hosts", &format!("[\"{address}\"]"));
                Some(format!("[settings]\nurl = \"http://{address}/\"\nquery = {{ q = \"{{sql}}\" }}"))
            }
        };
        let text = text.map(|rest| {
            let kind = format!("{kind:?}").to_lowercase();
            manifest("echo", &kind, "read", params, &rest)
                .replace("[params]", "capability = \"db.read\"\n[params]")
        });
        let manifests: Vec<(&str, &str)> = text.iter().map(|text| ("echo", text.as_str())).collect();
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.db"), "").unwrap();
        // What a server offers is known to plans, and to agents, once it is accepted and read at the next start.
        let first: Vec<(&str, &str)> = match kind {
            Kind::Mcp => settings.iter().copied().filter(|(key, _)| !key.starts_with("agents.")).collect(),
            _ => settings.clone(),
        };
        let mut shop = Shop::open_in(folder, &manifests, &first, &[]).await.unwrap();
        if kind == Kind::Mcp {
            offer_of_mcp_server(shop.app.config(), "child", true).await.unwrap();
            let Shop { app, folder } = shop;
            drop(app);
            shop = Shop::open_in(folder, &manifests, &settings, &[]).await.unwrap();
        }
        Self { shop, kind, _server: server }
    }

    fn call(&self, sequence: u64, arguments: Json) -> CallRequest {
        CallRequest {
            id: luaplan::base::CallId::single(sequence),
            tool: self.kind.tool().to_owned(),
            arguments: CallArguments(vec![Value::from_json(arguments).unwrap()]),
            line: Some(3),
        }
    }

    fn good(&self, sequence: u64) -> CallRequest {
        let sql = if self.kind == Kind::Builtin { "SELECT 'x' AS said" } else { "x" };
        self.call(sequence, json!({ "sql": sql }))
    }

    /// What the bus makes of batches of calls: outcomes' codes, and the journal.
    async fn story(&self, policy: Policy, batches: Vec<Vec<CallRequest>>) -> Vec<String> {
        let journal = Arc::new(MemoryJournal::default());
        let limits = self.shop.app.config().limits.clone();
        let log = RunLog::new(
            RunId::generate(),
            Arc::clone(&journal) as Arc<dyn JournalWrite>,
            Arc::new(luaplan::base::SystemClock),
            Arc::new(luaplan::base::SystemRandomness),
            Arc::new(Redactor::without_secrets()),
            Vec::new(),
        );
        let mut registry = luaplan::bus::Registry::default();
        registry.insert(self.shop.app.tools().tool(self.kind.tool()).unwrap());
        let bus = Bus::new(BusParts {
            registry: Arc::new(registry),
            limiter: Arc::new(Limiter::new(LimiterSettings {
                max_wait: Some(std::time::Duration::ZERO),
                ..LimiterSettings::standard()
            })),
            policy,
            flow: None,
            wakes: std::collections::HashMap::new(),
            questions: std::collections::HashMap::new(),
            approvals: luaplan::bus::RunApprovals::default(),
            log: log.clone(),
            budget: Arc::new(RunBudget::new(limits, 0)),
            cancellation: tokio_util::sync::CancellationToken::new(),
            deadline: tokio::time::Instant::now() + std::time::Duration::from_secs(60),
            result_bytes_max: 1 << 20,
        });
        let mut story = Vec::new();
        for batch in batches {
            match bus.answer(batch).await {
                Ok(outcomes) => story.extend(outcomes.iter().map(|outcome| match outcome {
                    Ok(value) => format!("answer {}", value.to_json()),
                    Err(failure) => {
                        let mut names: Vec<&String> = failure.details.keys().collect();
                        names.sort();
                        format!("failure {} {} {names:?}", failure.code, failure.retryable)
                    }
                })),
                Err(error) => story.push(format!("ended {}", error.code())),
            }
        }
        log.catch_up().await.unwrap();
        let mut records = journal.records(RecordFilter::default()).await.unwrap();
        // Calls side by side end in any order.
        records.sort_by_key(|record| record.event.body.call_id().map(|id| id.as_str().to_owned()));
        story.extend(records.iter().map(|record| told(&record.event.body)));
        story
    }
}

/// An event without the tool's name, what was said and times.
fn told(body: &EventBody) -> String {
    match body {
        EventBody::ToolCallStarted { call_id, effect, line, arguments, .. } => {
            let names: Vec<&String> = arguments.as_object().unwrap().keys().collect();
            format!("started {call_id} {} {line:?} {names:?}", effect.as_str())
        }
        EventBody::ToolCallFinished { call_id, ok, code, result, result_bytes, .. } => {
            format!("finished {call_id} {ok} {code:?} {result:?} {result_bytes}")
        }
        EventBody::ToolCallRefused { call_id, code, error, .. } => {
            let names: Vec<&String> = error.as_object().unwrap().keys().collect();
            format!("refused {call_id} {code} {names:?}")
        }
        other => other.name().to_owned(),
    }
}

/// The same for every kind as for the built-in tool.
async fn same_for_all(policy: Policy, batches: impl Fn(&Stand) -> Vec<Vec<CallRequest>>) -> Vec<String> {
    let mut expected: Option<Vec<String>> = None;
    for kind in Kind::ALL {
        let stand = Stand::of(kind).await;
        let story = stand.story(policy.clone(), batches(&stand)).await;
        match &expected {
            None => expected = Some(story),
            Some(expected) => assert_eq!(&story, expected, "{kind:?}"),
        }
    }
    expected.unwrap()
}

#[tokio::test]
async fn a_call_is_answered_and_on_record_the_same_way() {
    let story = same_for_all(Policy::registered_tools(), |stand| vec![vec![stand.good(1)]]).await;
    assert_eq!(story[0], "answer [{\"said\":\"x\"}]");
    assert_eq!(story[1], "started 1 read Some(3) [\"sql\"]");
    assert!(story[2].starts_with("finished 1 true None"), "{story:?}");
    assert_eq!(story.len(), 3);
}

#[tokio::test]
async fn policy_refuses_the_same_way() {
    let nothing = Policy { allowed_capabilities: Some(Default::default()), ..Policy::registered_tools() };
    let story = same_for_all(nothing, |stand| vec![vec![stand.good(1)]]).await;
    assert!(story[0].starts_with("failure permission_denied false"), "{story:?}");
    assert!(story[1].starts_with("refused 1 permission_denied"), "{story:?}");
    let granted = Policy {
        allowed_capabilities: Some(["db.read", "mcp.child"].map(str::to_owned).into_iter().collect()),
        ..Policy::read_only()
    };
    let story = same_for_all(granted, |stand| vec![vec![stand.good(1)]]).await;
    assert!(story[0].starts_with("answer"), "{story:?}");
}

#[tokio::test]
async fn bad_arguments_are_refused_the_same_way() {
    let story = same_for_all(Policy::registered_tools(), |stand| {
        vec![vec![stand.call(1, json!({ "sql": 7 }))], vec![stand.call(2, json!({ "sqll": "x" }))]]
    })
    .await;
    assert!(story.iter().filter(|line| line.starts_with("refused")).count() == 2, "{story:?}");
    assert!(story.iter().all(|line| !line.starts_with("started")), "{story:?}");
}

#[tokio::test]
async fn rates_hold_for_single_and_parallel_calls_the_same_way() {
    let story = same_for_all(Policy::registered_tools(), |stand| {
        let parallel = (1..=2)
            .map(|branch| CallRequest { id: luaplan::base::CallId::branch(2, branch), ..stand.good(2) });
        vec![vec![stand.good(1)], parallel.collect(), vec![stand.good(3)], vec![stand.good(4)]]
    })
    .await;
    let answers = story.iter().filter(|line| line.starts_with("answer")).count();
    let limited = story.iter().filter(|line| line.starts_with("failure rate_limited true")).count();
    assert_eq!((answers, limited), (3, 2), "{story:?}");
}

/// Without the line of a call: the second engine does not know it in calls that a function gives back.
fn without_line(story: Vec<String>) -> Vec<String> {
    let of = |line: String| {
        line.replace("Some(2)", "_").replace("Some(3)", "_").replace("Some(4)", "_").replace("None [", "_ [")
    };
    story.into_iter().map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_run_reads_the_same_in_the_audit_mocked_or_real_and_on_both_engines() {
    let mut expected: Option<(Vec<String>, Json)> = None;
    for kind in Kind::ALL {
        for (mocked, engine) in [(false, "mlua"), (true, "mlua"), (false, "piccolo")] {
            let stand = Stand::with(kind, &[("sandbox.engine", &format!("{engine:?}"))]).await;
            let argument = if kind == Kind::Builtin { "SELECT 'x' AS said" } else { "x" };
            let plan = format!(
                "function run(context)\n  local a = {0}{{sql = \"{argument}\"}}\n  local both = parallel{{function() return {0}{{sql = \"{argument}\"}} end, function() return {0}{{sql = \"{argument}\"}} end}}\n  local late = {0}{{sql = \"{argument}\"}}\n  return {{a = a[1].said, b = both[2][1].said, late = late.code}}\nend",
                kind.tool()
            );
            if mocked {
                let mocks = luaplan::testkit::MockTools::from_file(
                    &write_mock(stand.shop.folder.path(), kind.tool()),
                    stand.shop.app.tools().catalog(),
                );
                let outcome = stand.run_mocked(&plan, mocks.unwrap().handler()).await;
                assert_eq!(outcome.result.unwrap().to_json()["a"], "x", "{kind:?}");
                continue;
            }
            let outcome = stand.shop.run(&plan).await;
            let filter = RecordFilter { run_id: Some(outcome.run_id.clone()), ..RecordFilter::default() };
            let records = stand.shop.app.journal().records(filter).await.unwrap();
            let story: Vec<String> = records
                .iter()
                .filter(|record| record.event.body.call_id().is_some())
                .map(|record| told(&record.event.body))
                .collect();
            let story = sorted_within_branches(without_line(story));
            let seen = (story, outcome.result.unwrap_or_else(|error| panic!("{kind:?}: {error}")).to_json());
            match &expected {
                None => expected = Some(seen),
                Some(expected) => assert_eq!(&seen, expected, "{kind:?} on {engine}"),
            }
        }
    }
    let (story, result) = expected.unwrap();
    assert_eq!(result, json!({"a": "x", "b": "x", "late": "rate_limited"}));
    assert_eq!(story.len(), 7, "{story:?}");
}

const TESTS: &str = r#"
test("answers", function()
  mock("TOOL", { when = { sql = "q" }, returns = { { said = "mocked" } } })
  local run = run_plan()
  expect.succeeded(run)
  expect.equal(run.result.said, "mocked")
  expect.called(run, "TOOL", { times = 1, with = { sql = "q" } })
end)

test("fails", function()
  mock("TOOL", { fails = "tool_timeout" })
  expect.equal(run_plan().result.code, "tool_timeout")
end)
"#;

/// A plan test mocks the tool of a server by its name with the dot, and no server is started.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_test_mocks_tools_of_every_kind() {
    for kind in Kind::ALL {
        let stand = Stand::of(kind).await;
        let (folder, tool) = (stand.shop.folder.path(), kind.tool());
        let plan = format!(
            "function run(context)\n  local got = {tool}{{sql = \"q\"}}\n  if got.error then return {{code = got.code}} end\n  return {{said = got[1].said}}\nend\n"
        );
        let tests = TESTS.replace("TOOL", tool);
        std::fs::write(folder.join("plan.lua"), plan).unwrap();
        std::fs::write(folder.join("plan_test.lua"), tests).unwrap();
        let options = luaplan::testkit::TestOptions {
            path: folder.join("plan_test.lua"),
            only: None,
            base_dir: folder.to_path_buf(),
            filter: None,
            limits: stand.shop.app.config().limits.clone(),
            coverage: false,
        };
        let report = luaplan::testkit::run_tests(&options, stand.shop.app.tools().catalog()).await.unwrap();
        assert_eq!(report.failed(), 0, "{kind:?}: {}", report.to_text(false));
        assert!(report.to_json().to_string().contains("\"fails\""), "both tests were run");
    }
}

/// Calls of a `parallel` end in any order.
fn sorted_within_branches(mut story: Vec<String>) -> Vec<String> {
    story.sort();
    story
}

fn write_mock(folder: &std::path::Path, tool: &str) -> std::path::PathBuf {
    let path = folder.join("mocks.json");
    std::fs::write(&path, json!([{ "tool": tool, "returns": [{ "said": "x" }] }]).to_string()).unwrap();
    path
}

impl Stand {
    async fn run_mocked(
        &self,
        plan: &str,
        handler: Arc<dyn luaplan::bus::CallHandler>,
    ) -> luaplan::engine::RunOutcome {
        self.shop
            .app
            .run(luaplan::app::RunSpec {
                handler: Some(handler),
                ..luaplan::app::RunSpec::new(
                    luaplan::app::Work::Plan {
                        name: "plan".to_owned(),
                        source: plan.replace("late.code", "(late[1] or {}).said"),
                    },
                    self.shop.app.config().limits.clone(),
                )
            })
            .await
    }
}
