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
