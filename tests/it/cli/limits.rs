//! `--limit` and `--profile`: each limit stops a run with its code, the limit and the value seen.

use serde_json::json;

use super::Folder;
use crate::llm::server::{Answer, Server};

/// Name, a value for the flag, the limit as reported, and a plan that goes beyond it.
const HITS: [(&str, &str, u64, &str); 8] = [
    ("instructions", "100000", 100_000, "function run() while true do end end"),
    ("memory", "2MiB", 2_097_152, "function run() local t = {} for i = 1, 1e8 do t[i] = {i} end end"),
    ("wall", "300ms", 300, "function run() local n = 0 while true do n = n + 1 end end"),
    ("depth", "50", 50, "local function f(n) return 1 + f(n + 1) end\nfunction run() return f(1) end"),
    ("source", "1KiB", 1024, ""),
    ("output", "1KiB", 1024, "function run() return string.rep('x', 5000) end"),
    ("print", "1KiB", 1024, "function run() for i = 1, 1000 do print('0123456789') end end"),
    (
        "tool_calls",
        "2",
        2,
        "function run() for i = 1, 9 do transform_data({}, '{{ input }}', 'text') end end",
    ),
];

#[test]
fn each_limit_of_the_machine_ends_the_run_with_four() {
    let long = format!("function run() end\n{}", "-- padding padding padding padding\n".repeat(50));
    for (name, text, limit, plan) in HITS {
        let folder = Folder::new();
        let plan = if plan.is_empty() { &long } else { plan };
        let flag = format!("{name}={text}");
        // A wide instruction limit, so that the limit meant is the one hit.
        let wide: &[&str] = if name == "wall" { &["--limit", "instructions=100000000000"] } else { &[] };
        let ended = folder.plan(plan, &[&["--limit", &flag, "--json"], wide].concat()).exits(4).json();
        let error = &ended["error"];
        assert_eq!(error["code"], json!(format!("limit_{name}")), "{ended}");
        assert_eq!(error["limit"], json!(limit), "{ended}");
        assert!(error["observed"].as_u64().unwrap() >= limit, "{ended}");
        assert_eq!(ended["status"], json!("failed"), "{ended}");
        let human = folder.plan(plan, &[&["--limit", &flag], wide].concat()).exits(4);
        assert!(human.err.contains(&format!("limit {limit}, seen ")), "{human}");
    }
}

#[test]
fn tool_results_are_limited_in_sum() {
    let folder = Folder::new();
    let plan = "function run() for i = 1, 9 do transform_data({}, '{{ 1 }}' .. string.rep('x', 900), 'text') end end";
    let ended = folder.plan(plan, &["--limit", "result_bytes=2KiB", "--json"]).exits(4).json();
    assert_eq!(ended["error"]["code"], json!("limit_result_bytes"), "{ended}");
    assert_eq!(ended["error"]["limit"], json!(2048), "{ended}");
    assert!(ended["error"]["observed"].as_u64().unwrap() > 2048, "{ended}");
}

#[tokio::test(flavor = "multi_thread")]
async fn model_tokens_and_money_are_limited() {
    let answer = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500},
    });
    let server = Server::start(vec![Answer::text("application/json", &answer.to_string()); 8]).await;
    let base_url = server.settings(luaplan::llm::Provider::OpenAi).base_url.unwrap();
    let settings = format!(
        "[llm]\nprovider = \"openai\"\nmodel = \"m\"\nstream = false\nbase_url = \"{base_url}\"\nprice_input = 1000.0\nprice_output = 1000.0\n"
    );
    let plan =
        "function run() for i = 1, 9 do local a = call_llm('hi') if a.error then return a.error end end end";
    let folder = Folder::with(&[("luaplan.toml", &settings)]);
    let (folder, ended) = tokio::task::spawn_blocking(move || {
        let ended = folder
            .plan(plan, &["--limit", "llm_tokens=2000", "--limit", "llm_cost=100", "--json"])
            .exits(4)
            .json();
        (folder, ended)
    })
    .await
    .unwrap();
    assert_eq!(ended["error"]["code"], json!("limit_llm_tokens"), "{ended}");
    assert_eq!(ended["error"]["limit"], json!(2000), "{ended}");
    let ended = tokio::task::spawn_blocking(move || {
        folder.plan(plan, &["--limit", "llm_cost=$0.25", "--json"]).exits(4).json()
    })
    .await
    .unwrap();
    assert_eq!(ended["error"]["code"], json!("limit_llm_cost"), "{ended}");
    assert_eq!(ended["error"]["limit"], json!(250_000), "{ended}");
    assert!(ended["error"]["observed"].as_u64().unwrap() > 250_000, "{ended}");
    assert!(!server.asked().is_empty());
}

#[test]
fn pcall_in_a_plan_does_not_swallow_a_limit() {
    let plan = "function run() while true do pcall(function() while true do end end) end end";
    Folder::new().plan(plan, &["--limit", "instructions=100000"]).fails(4, "limit_instructions");
}

#[test]
fn limits_that_make_no_sense_are_usage() {
    let folder = Folder::new();
    for (words, expected) in [
        (["--limit", "fuel=1"], "the limits are instructions, memory, wall"),
        (["--limit", "wall"], "has no `=`"),
        (["--limit", "wall="], "--limit wall="),
        (["--limit", "wall=-1s"], "--limit wall=-1s"),
        (["--limit", "wall=soon"], "`soon` is not a duration"),
        (["--limit", "memory=64MiBs"], "is not a size in bytes"),
        (["--limit", "memory=99999999999GiB"], "is not a size in bytes"),
        (["--limit", "instructions=0"], "a number above zero"),
        (["--limit", "instructions=1e6"], "is not a whole number"),
        (["--limit", "llm_cost=much"], "US dollars"),
        (["--profile", "huge"], "the profiles are strict, standard and generous"),
        (["--profile", ""], "there is no limit profile"),
    ] {
        let ended = folder.plan("function run() end", &words).exits(2);
        assert!(ended.err.starts_with("error[") && ended.err.contains(expected), "{ended}");
    }
}

#[test]
fn a_profile_sets_all_limits_and_single_ones_go_over_it() {
    let folder =
        Folder::with(&[("plan.lua", "function run() end"), ("luaplan.toml", "[limits]\nwall = \"7s\"\n")]);
    let limits = |words: &[&str]| {
        folder.run(&[&["run", "plan.lua", "--dry-run", "--json"], words].concat()).exits(0).json()["limits"]
            .clone()
    };
    let configured = limits(&[]);
    assert_eq!((&configured["wall"], &configured["tool_calls"]), (&json!(7_000), &json!(200)));
    let strict = limits(&["--profile", "strict", "--limit", "tool_calls=3"]);
    assert_eq!((&strict["wall"], &strict["tool_calls"]), (&json!(30_000), &json!(3)));
    assert_eq!(limits(&["--profile", "generous"])["tool_calls"], json!(5_000));
}
