//! What an agent may do: never more than the run that calls it.

use luaplan::base::{ErrorCode, LimitName};
use luaplan::journal::RunStatus;
use luaplan::plan::preview::Texts;

use super::{Agents, COUNTER, result};

/// Calls an agent that is given in its context.
const MIDDLE: &str = r#"function run(context)
  local got = call_agent(context.name, context.context)
  if got.error then return { code = got.code, said = got.error } end
  return got
end"#;

#[tokio::test]
async fn an_agent_cannot_be_given_more_tools_than_its_caller_has() {
    let agents = Agents::new(
        &[
            ("mailer", COUNTER, &["query_db", "send_email"]),
            ("reader", MIDDLE, &["query_db", "call_agent"]),
            ("sender", MIDDLE, &["query_db", "send_email", "call_agent"]),
        ],
        &[],
    )
    .await;
    let ask = |who: &str| {
        format!(
            "function run() local got = call_agent('{who}', {{ name = 'mailer', context = {{ above = 30, tell = 'admin@company.com' }} }}) \
             if got.error then error(got.error) end return got end"
        )
    };
    let refused = result(agents.bench.run(&ask("reader")).await);
    assert_eq!(refused["code"], "agent_widens", "{refused}");
    assert!(refused["said"].as_str().unwrap().contains("send_email"), "{refused}");
    assert_eq!(agents.mails(), 0);
    let allowed = result(agents.bench.run(&ask("sender")).await);
    assert_eq!(allowed["count"], 4, "{allowed}");
    assert_eq!(agents.mails(), 1);
}

#[tokio::test]
async fn a_plan_of_an_agent_that_names_other_tools_is_refused_by_the_check() {
    let agents = Agents::new(&[("counter", COUNTER, &["query_db"])], &[]).await;
    let source = "function run() local got = call_agent('counter', { above = 1 }) return got.code end";
    // The plan names `send_email`, which the agent is not granted.
    assert_eq!(result(agents.bench.run(source).await), "check_refused");
}

#[tokio::test]
async fn agents_nest_as_deep_as_configured() {
    let source = r#"function run(context)
  local got = call_agent("itself", { depth = context.depth + 1 })
  if got.error then return { depth = context.depth, code = got.code } end
  return got
end"#;
    for depth in [1, 3] {
        let depth_text = depth.to_string();
        let agents =
            Agents::new(&[("itself", source, &["call_agent"])], &[("agent_depth", depth_text.as_str())])
                .await;
        let got = "function run() local got = call_agent('itself', { depth = 1 }) if got.error then error(got.error) end return got end";
        let reached = result(agents.bench.run(got).await);
        assert_eq!(
            (&reached["depth"], &reached["code"]),
            (&depth.into(), &"agent_depth".into()),
            "{reached}"
        );
    }
}

#[tokio::test]
async fn what_agents_use_is_used_of_their_caller() {
    let greedy = r#"function run(context)
  for _ = 1, context.times do
    local rows = query_db{ table = "users", limit = 1 }
    if rows.error then return rows.error end
  end
  return { done = true }
end"#;
    let agents = Agents::new(&[("greedy", greedy, &["query_db"])], &[]).await;
    let mut limits = agents.bench.limits();
    limits.set(LimitName::ToolCalls, "6").unwrap();
    let source = r#"function run(context)
  local both = parallel{
    function() return call_agent("greedy", { times = 3 }) end,
    function() return call_agent("greedy", { times = 3 }) end,
  }
  return both[1].error or both[2].error or "within"
end"#;
    // Two calls of its own and six of theirs.
    let outcome = agents.bench.run_with(source, None, limits.clone()).await;
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::LimitToolCalls, "{outcome:?}");
    limits.set(LimitName::ToolCalls, "8").unwrap();
    let outcome = agents.bench.run_with(source, None, limits).await;
    assert_eq!(result(outcome), "within");
}

#[tokio::test]
async fn limits_of_an_agent_are_its_own_and_its_callers_whichever_is_lower() {
    let plans = tempfile::tempdir().unwrap();
    let file = plans.path().join("looper.lua");
    std::fs::write(&file, "function run() local n = 0 for i = 1, 1000000 do n = n + i end return n end")
        .unwrap();
    let agent = format!("{{ plan = {:?}, limits = {{ instructions = 1000 }} }}", file.display().to_string());
    let bench = crate::app_parts::Bench::with(&[("agents.looper", &agent)], None).await;
    let source =
        "function run() local got = call_agent('looper') return { code = got.code, limit = got.limit } end";
    let got = result(bench.run(source).await);
    assert_eq!(got, serde_json::json!({ "code": "limit_instructions", "limit": 1000 }));
    let mut limits = bench.limits();
    limits.set(LimitName::Instructions, "600").unwrap();
    let got = result(bench.run_with(source, None, limits).await);
    assert_eq!(got["limit"], 600);
}

#[tokio::test]
async fn an_unknown_agent_is_found_before_the_run_and_explain_says_what_agents_may_do() {
    let agents = Agents::new(
        &[
            ("counter", COUNTER, &["query_db", "send_email"]),
            ("idle", "function run() return sleep(3) end", &["sleep"]),
        ],
        &[],
    )
    .await;
    let refused = agents.bench.run("function run() return call_agent('nobody') end").await;
    assert_eq!(refused.error().unwrap().code(), ErrorCode::CheckRefused);
    assert!(refused.error().unwrap().to_json().to_string().contains("counter"));
    let at_run_time = "function run(context) return call_agent(context.who).code end";
    assert_eq!(result(agents.bench.run(at_run_time).await), "bad_arguments");

    let limits = agents.bench.limits();
    let named = |source: &str| {
        let preview = agents.bench.app.plans().explain(source, "plan", &limits, None).preview.unwrap();
        let names: Vec<String> = preview.agents.iter().map(|agent| agent.name.clone()).collect();
        (names, preview)
    };
    let (names, preview) = named("function run() return call_agent('counter', { above = 1 }) end");
    assert_eq!(names, ["counter"]);
    assert!(preview.effects.contains(&luaplan::base::Effect::Send), "{:?}", preview.effects);
    assert_eq!((preview.calls_max, preview.is_unbounded), (limits.tool_calls, true));
    assert_eq!(preview.sleeps_max_seconds, None);
    assert!(
        preview.page(Texts::Short).contains("counter, by counter.lua, may call query_db, send_email"),
        "{}",
        preview.page(Texts::Short)
    );
    // A name that is not known may be any.
    let (names, preview) = named("function run(context) return call_agent(context.who) end");
    assert_eq!(names, ["counter", "idle"]);
    assert!(preview.sleeps_max_seconds.is_some());
}

#[tokio::test]
async fn faults_of_the_configuration_are_named() {
    let load = |settings: &'static [(&'static str, &'static str)]| async move {
        let folder = tempfile::tempdir().unwrap();
        let environment = crate::app_parts::environment(folder.path());
        let flags = settings.iter().map(|(key, text)| crate::app_parts::setting(key, text)).collect();
        let options = luaplan::app::config::LoadOptions { file: None, flags };
        let loaded = luaplan::app::config::load(&environment, &options).unwrap();
        luaplan::app::App::open(&loaded, &environment).await.map(drop).unwrap_err()
    };
    for (settings, words) in [
        (&[("agents.x", "{ tools = [] }")][..], "agents.x"),
        (&[("agents.x", "{ task = \"do\", plan = \"x.lua\" }")], "one of them"),
        (&[("agents.x", "{ plan = \"absent.lua\" }")], "agents.x.plan"),
        (&[("agents.x", "{ task = \"do\", tools = [\"nosuch\"] }")], "agents.x.tools"),
        (&[("agents.x", "{ task = \"do\", limits = { wall = \"soon\" } }")], "agents.x.limits.wall"),
        (&[("agent_depth", "99")], "agent_depth"),
    ] {
        let error = load(settings).await;
        assert_eq!(error.code(), ErrorCode::ConfigInvalid, "{error}");
        assert!(error.message().contains(words), "{words}: {error}");
    }
    // Without agents the tool is there and says what is missing.
    let bench = crate::app_parts::Bench::new().await;
    let outcome = bench.run("function run() return call_agent('x').code end").await;
    assert_eq!(outcome.status(), RunStatus::Succeeded);
    assert_eq!(result(outcome), "tool_not_configured");
    assert!(bench.app.tools().usable().get("call_agent").is_none());
}
