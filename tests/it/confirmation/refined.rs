//! Plans that are changed by a task: of a file, and of an earlier run.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{id_of, plan, reply, service};
use crate::cli::{Ended, Folder, model_answer};
use crate::llm::server::Server;

/// A folder with a model that answers with these plans, one after the other.
pub(super) async fn folder_with(plans: &[String]) -> (Arc<Folder>, Server) {
    let server = Server::start(plans.iter().map(|plan| model_answer(plan))).await;
    let folder = Folder::new();
    let base_url = server.base_url();
    folder.write(
        "luaplan.toml",
        format!("[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{base_url}\"\n"),
    );
    (Arc::new(folder), server)
}

pub(super) async fn run(folder: &Arc<Folder>, words: &[&str]) -> Ended {
    let folder = folder.clone();
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let ended = tokio::task::spawn_blocking(move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        folder.run_with(&[("OPENAI_API_KEY", "k")], &words)
    });
    ended.await.unwrap()
}

/// All that the model was told in its last request.
pub(super) fn told(server: &Server) -> String {
    let body = server.asked().pop().unwrap().body;
    let texts = body["messages"].as_array().unwrap().iter().map(|message| message["content"].to_string());
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saved_plan_is_changed_and_shown_as_a_difference() {
    let (folder, server) = folder_with(&[plan(2), plan(3), plan(3)]).await;
    folder.write("old.lua", plan(1));
    let changed = run(&folder, &["plan", "--revise", "old.lua", "answer with two"]).await.exits(0);
    assert_eq!(changed.out, plan(2), "the plan alone on standard output: {changed}");
    for line in
        ["--- old.lua", "+++ the changed plan", "-  return { answer = 1 }", "+  return { answer = 2 }"]
    {
        assert!(changed.err.lines().any(|shown| shown == line), "{line}: {changed}");
    }
    let told_first = told(&server);
    assert!(told_first.contains("answer = 1") && told_first.contains("answer with two"), "{told_first}");
    // A plan that does not pass is given with what the check finds.
    folder.write("bad.lua", "function run(context)\n  return nothere()\nend");
    let words = ["plan", "--revise", "bad.lua", "mend it", "--output", "bad.lua", "--force", "--json"];
    let mended = run(&folder, &words).await.exits(0).json();
    assert!(mended["difference"].as_str().unwrap().contains("-  return nothere()"), "{mended}");
    assert_eq!(folder.read("bad.lua"), plan(3));
    let told_then = told(&server);
    assert!(told_then.contains("The check finds this") && told_then.contains("nothere"), "{told_then}");
    let same = run(&folder, &["plan", "--revise", "bad.lua", "leave it"]).await.exits(0);
    assert!(same.err.contains("the plan stays as it is"), "{same}");
    assert!(!same.err.contains("wrote"), "{same}");
    run(&folder, &["plan", "--revise", "absent.lua", "x"]).await.fails(2, "file_unreadable");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_loses_a_parameter_is_told() {
    let (folder, server) = folder_with(&[plan(2)]).await;
    folder.write("old.lua", format!("-- luaplan: param(month, \"2026-05\")\n{}", plan(1)));
    let changed = run(&folder, &["plan", "--revise", "old.lua", "answer with two"]).await.exits(0);
    assert!(changed.err.contains("does not declare the parameter `month` any more"), "{changed}");
    let said = told(&server);
    assert!(said.contains("declare members of the context that callers give: keep them"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_follows_a_run_with_its_plan_and_its_context() {
    let uses = "function run(context)\n  return { answer = context.a }\nend".to_owned();
    let (folder, server) = folder_with(&[plan(1), uses.clone(), uses.clone()]).await;
    run(&folder, &["task", "answer with one", "--context", r#"{"a": 7}"#]).await.exits(0);
    let first = run(&folder, &["runs", "--json"]).await.json()[0]["run_id"].as_str().unwrap().to_owned();
    let ended = run(&folder, &["task", "--follow", "last", "answer with a", "--json"]).await.exits(0).json();
    assert_eq!(ended["result"], json!({ "answer": 7 }), "{ended}");
    let said = told(&server);
    for part in ["answer = 1", "written for this task", "> answer with one", "answer with a"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let page = run(&folder, &["show", "last"]).await.exits(0);
    assert!(page.out.contains(&format!("changes the plan of run {first}")), "{page}");
    let other =
        run(&folder, &["task", "--follow", &first, "again", "--context", r#"{"a": 8}"#, "--json"]).await;
    assert_eq!(other.exits(0).json()["result"], json!({ "answer": 8 }));
    run(&folder, &["task", "--follow", "0192b1c4-0000-7000-8000-000000000000", "x"])
        .await
        .fails(2, "not_found");
}

#[tokio::test]
async fn a_task_over_http_follows_a_run() {
    let uses = "function run(context)\n  return { answer = context.a }\nend";
    let replies = vec![reply(Some("> answer with one"), uses), reply(None, &plan(1))];
    let service = service(&[], replies).await;
    let client = &service.client;
    let body = json!({ "task": "answer with one", "context": { "a": 7 } });
    let first = id_of(&client.post("/v1/tasks?wait=25s", &body).await.json());
    let body = json!({ "task": "answer with a", "follow": first });
    let outcome: Json = client.post("/v1/tasks?wait=25s", &body).await.json();
    assert_eq!(outcome["result"], json!({ "answer": 7 }), "{outcome}");
    let run = client.get(&format!("/v1/runs/{}", id_of(&outcome))).await.json();
    assert_eq!(run["follows"], json!(first), "{run}");
    client.post("/v1/tasks", &json!({ "task": "x", "follow": "nonsense" })).await.problem(400, "bad_request");
}
