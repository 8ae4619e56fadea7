//! `replay --model`: another model plans the task of a run, and its plan meets what is on record.

use luaplan::demo::DemoParts;
use serde_json::{Value as Json, json};

use super::{Ended, Folder};
use crate::llm::server::{Answer, Server};

const COUNT: &str = "function run(context)\n  local rows = query_db{ table = 'users' }\n  \
    if rows.error then error(rows.error) end\n  return { count = #rows }\nend";

/// A model's streamed answer that holds a plan.
pub(crate) fn plan(source: &str) -> Answer {
    said(&json!({ "plan": source, "explanation": "x" }).to_string())
}

/// A model's streamed answer.
pub(crate) fn said(text: &str) -> Answer {
    let chunk = |rest: Json| {
        let mut chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m" });
        chunk.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        format!("data: {chunk}\n\n")
    };
    let delta =
        |delta: Json, end: Json| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    let body = [
        chunk(delta(json!({ "role": "assistant", "content": text }), Json::Null)),
        chunk(delta(json!({}), json!("stop"))),
        chunk(json!({ "choices": [], "usage": usage })),
        "data: [DONE]\n\n".to_owned(),
    ];
    Answer::text("text/event-stream", &body.concat())
}

async fn in_folder<const N: usize>(folder: &std::sync::Arc<Folder>, words: [&'static str; N]) -> Ended {
    let folder = folder.clone();
    let ended = tokio::task::spawn_blocking(move || folder.run_with(&[("OPENAI_API_KEY", "k")], &words));
    ended.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_model_plans_the_task_of_a_recorded_run() {
    let parts_folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(parts_folder.path()).await.unwrap();
    let other = COUNT.replace("count =", "users =");
    let new_call = COUNT.replace("return", "query_db{ table = 'users', limit = 7 }\n  return");
    let bad = "function run(context) return nothere() end";
    let answers = [COUNT, COUNT, &other, &new_call, bad, bad, bad, bad].map(plan);
    let server = Server::start(answers).await;
    let folder = Folder::new();
    let mut settings: String =
        parts.configuration().into_iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    settings.push_str(&format!(
        "[llm]\nprovider = \"openai\"\nmodel = \"first\"\nbase_url = \"{}\"\n",
        server.base_url()
    ));
    folder.write("luaplan.toml", settings);
    let folder = std::sync::Arc::new(folder);
    in_folder(&folder, ["task", "count the users"]).await.exits(0);

    let same = in_folder(&folder, ["replay", "last", "--model", "second"]).await.exits(0);
    assert!(
        same.out.contains("the new plan") && same.out.contains("the same: end, output and 1 call(s)"),
        "{same}"
    );
    let differs = in_folder(&folder, ["replay", "last", "--model", "third"]).await.exits(1);
    assert!(differs.out.contains("the end differs") && differs.out.contains("\"users\":"), "{differs}");
    let called = in_folder(&folder, ["replay", "last", "--model", "fourth", "--json"]).await.exits(1).json();
    assert_eq!(
        (&called["calls"][0]["difference"], &called["calls"][0]["tool"]),
        (&json!("new"), &json!("query_db"))
    );
    assert!(called["plan"].as_str().unwrap().contains("limit = 7"), "{called}");
    let collapsed = in_folder(&folder, ["replay", "last", "--model", "fifth"]).await.exits(1);
    assert!(
        collapsed.err.contains("llm_collapsed") && collapsed.err.contains("is not on record"),
        "{collapsed}"
    );

    let models: Vec<String> =
        server.asked().iter().map(|asked| asked.body["model"].as_str().unwrap().to_owned()).collect();
    assert_eq!(models[..4], ["first", "second", "third", "fourth"]);
    assert!(models[4..].iter().all(|model| model == "fifth"), "{models:?}");
    // Nothing of it is on record, and the run's own answer is.
    let runs = in_folder(&folder, ["runs", "--json"]).await.exits(0).json();
    assert_eq!(runs.as_array().unwrap().len(), 1);
    let asked = in_folder(&folder, ["audit", "--event", "llm_response_received"]).await.exits(0);
    assert_eq!(asked.json_lines().len(), 1);

    in_folder(&folder, ["replay", "last", "--model", ""]).await.exits(2);
    folder.write("plan.lua", "function run() return 1 end");
    in_folder(&folder, ["run", "plan.lua"]).await.exits(0);
    let saved = in_folder(&folder, ["replay", "last", "--model", "second"]).await;
    assert!(saved.err.contains("run_not_resumable") && saved.err.contains("task"), "{saved}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_repeats_itself_is_told_with_what_is_wrong() {
    let bad = "function run(context)\n  return query_dbx{}\nend";
    let server = Server::start([bad; 8].map(plan)).await;
    let folder = Folder::new();
    let base_url = server.base_url();
    folder.write(
        "luaplan.toml",
        format!("[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{base_url}\"\n"),
    );
    let folder = std::sync::Arc::new(folder);
    for command in ["task", "plan"] {
        let ended = in_folder(&folder, [command, "do it"]).await.fails(1, "llm_collapsed");
        assert!(ended.err.contains("query_dbx") || ended.out.contains("query_dbx"), "{ended}");
    }
    let page = in_folder(&folder, ["show", "last"]).await.exits(0);
    assert!(page.out.contains("the check has 1 finding: plan_unknown_tool (line 2)"), "{page}");
    assert!(page.out.contains("did you mean `query_db`?"), "{page}");
}
