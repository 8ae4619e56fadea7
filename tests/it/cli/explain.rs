//! `explain`: what a plan would do, as a page, as data and as drawings.

use serde_json::json;

use super::Folder;

const PLAN: &str = "function run(context)
  local rows = query_db{sql = \"SELECT name FROM people JOIN teams ON 1 = 1\"}
  if rows.error then return nil end
  for i = 1, 2 do
    send_email(\"a@example.com\", context.subject, rows[1].name)
  end
end
";

#[test]
fn the_page_names_calls_and_places() {
    let folder = Folder::with(&[("plan.lua", PLAN)]);
    let page = folder.run(&["explain", "plan.lua"]).exits(0).out;
    for part in [
        "1. query_db, line 2 (read, at most once)",
        "at most 2 times",
        "context.subject",
        "a@example.com",
        "people, teams",
    ] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    let dry = folder.run(&["run", "plan.lua", "--dry-run"]).exits(0).out;
    assert!(dry.contains("a@example.com") && dry.contains("nothing was run"), "{dry}");
}

#[test]
fn data_and_graph_are_one_json_each() {
    let folder = Folder::with(&[("plan.lua", PLAN), ("bad.lua", "function run() nothere() end")]);
    let data = folder.run(&["explain", "plan.lua", "--json"]).exits(0).json();
    assert_eq!((&data["ok"], &data["preview"]["calls_max"]), (&json!(true), &json!(3)));
    let graph = folder.run(&["explain", "plan.lua", "--graph", "json"]).exits(0).json();
    assert_eq!(graph, data["graph"]);
    let refused = folder.run(&["explain", "bad.lua", "--json"]).exits(3).json();
    assert_eq!((&refused["ok"], &refused["graph"]), (&json!(false), &json!(null)));
    assert!(folder.run(&["explain", "bad.lua"]).exits(3).out.contains("nothere"));
}

#[test]
fn a_drawing_goes_to_a_file_or_out() {
    let folder = Folder::with(&[("plan.lua", PLAN)]);
    folder.run(&["explain", "plan.lua", "--graph", "dot", "-o", "plan.dot"]).exits(0);
    assert_eq!(folder.read("plan.dot"), folder.run(&["explain", "plan.lua", "--graph", "dot"]).exits(0).out);
    let both = folder.run(&["explain", "plan.lua", "--graph", "dot", "--json"]).exits(0).json();
    assert_eq!(both["drawing"], json!({"format": "dot", "text": folder.read("plan.dot")}));
    folder.run(&["explain", "plan.lua", "--graph", "png"]).exits(2);
}

#[test]
fn texts_are_cut_on_the_page_alone() {
    let long = "é".repeat(100);
    let folder = Folder::with(&[(
        "long.lua",
        &format!("function run() return send_email('a@b.c', '{long}', 'x').error end"),
    )]);
    let page = folder.run(&["explain", "long.lua"]).exits(0).out;
    assert!(!page.contains(&long) && page.contains("`luaplan explain long.lua --full`"), "{page}");
    let whole = folder.run(&["explain", "long.lua", "--full"]).exits(0).out;
    assert!(whole.contains(&long) && !whole.contains("are cut"), "{whole}");
    let data = folder.run(&["explain", "long.lua", "--json"]).exits(0).json();
    assert_eq!(data["preview"]["calls"][0]["arguments"][1][1]["shown"], json!(format!("\"{long}\"")));
    let dry = folder.run(&["run", "long.lua", "--dry-run"]).exits(0).out;
    assert!(dry.contains("`luaplan explain long.lua --full`"), "{dry}");
}

#[test]
fn a_computed_key_is_shown_as_one() {
    let plan = "function run(context)
  local rows = query_db{table = \"stock\"}
  if rows.error then return rows.error end
  local countries = {}
  for _, row in ipairs(rows) do countries[row.country] = row.name end
  return {countries = countries, [\"a b\"] = 1}
end";
    let folder = Folder::with(&[("plan.lua", plan)]);
    let page = folder.run(&["explain", "plan.lua"]).exits(0).out;
    assert!(page.contains("countries = {[…] = ") && page.contains("[\"a b\"] = 1"), "{page}");
    assert!(!page.contains("{ = "), "{page}");
}

#[test]
fn a_file_that_is_there_is_replaced_on_request_only() {
    let folder = Folder::with(&[("plan.lua", PLAN), ("kept.txt", "mine")]);
    folder.run(&["explain", "plan.lua", "-o", "kept.txt"]).fails(2, "file_exists");
    assert_eq!(folder.read("kept.txt"), "mine");
    folder.run(&["explain", "plan.lua", "-o", "kept.txt", "--force"]).exits(0);
    assert!(folder.read("kept.txt").starts_with("calls"));
    let output = ["--set", "llm.provider=openai", "--set", "llm.model=m", "plan", "x", "-o", "kept.txt"];
    folder.run(&output).fails(2, "file_exists");
}

#[test]
fn models_are_those_that_calls_name() {
    let source = |model: &str| {
        format!("function run(context)\n  return call_llm{{prompt = context.text, model = {model}}}\nend\n")
    };
    let folder = Folder::new();
    folder.write(
        "luaplan.toml",
        "[llm]\nprovider = \"openai\"\nmodel = \"big\"\nbase_url = \"http://127.0.0.1:9\"\nprice_input = 1.0\n\
         [llm.models.cheap]\nprovider = \"openai\"\nmodel = \"tiny-7b\"\nbase_url = \"http://127.0.0.1:9\"\n",
    );
    let explain = |model: &str| {
        folder.write("plan.lua", source(model));
        folder.run(&["explain", "plan.lua"]).exits(0).out
    };
    let line = |page: &str| page.lines().find(|line| line.starts_with("  models")).unwrap().to_owned();
    let named = explain("\"cheap\"");
    assert!(line(&named).contains("cheap (openai/tiny-7b)") && !line(&named).contains("big"), "{named}");
    assert!(named.contains("the tokens of call_llm at the prices of its models"), "{named}");
    let open = explain("context.model");
    assert!(line(&open).contains("from context.model") && line(&open).contains("big"), "{open}");
    assert!(line(&explain("nil")).ends_with("big"));
    let absent = explain("\"cheep\"");
    assert!(absent.contains("there is no model `cheep`"), "{absent}");
    let found = folder.run(&["check", "plan.lua", "--json"]).exits(0).json();
    assert_eq!(found["findings"][0]["code"], "plan_target_refused", "{found}");
    folder.write("plan.lua", source("\"cheap\""));
    let found = folder.run(&["check", "plan.lua", "--json"]).exits(0).json();
    assert_eq!(found["findings"], json!([]), "{found}");
}
