//! What a person is shown of a long call, and the arguments they change before they allow it.

use luaplan::demo::DemoParts;
use serde_json::{Value as Json, json};

use super::POLICY;
use crate::cli::Folder;

/// A mail of 360 KB with a file.
const LONG_MAIL: &str = r#"function run(context)
  local body = string.rep("a customer's line\n", 20000) .. "the last" .. " line"
  local sent = send_email{to = "admin@company.com", subject = "Report", body = body,
    attachments = {{name = "list.csv", content = "a,b\n1,2\n"}}}
  if sent.error then return { code = sent.code } end
  return { delivered = sent.delivered }
end"#;

/// More than this is no answer for a person.
const PAGE_BYTES_MAX: usize = 16 * 1024;

async fn with_mail() -> (Folder, DemoParts, tempfile::TempDir) {
    let kept = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(kept.path()).await.unwrap();
    let folder = Folder::with(&[("policy.toml", POLICY), ("plan.lua", LONG_MAIL)]);
    let lines: String = parts
        .configuration()
        .into_iter()
        .map(|(key, value)| match key.as_str() {
            "tools.send_email.allow_recipients" => format!("{key} = [\"*@company.com\"]\n"),
            _ => format!("{key} = {value}\n"),
        })
        .collect();
    folder.write("luaplan.toml", format!("policy.file = \"policy.toml\"\n{lines}"));
    (folder, parts, kept)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_mail_is_shortened_where_it_waits_and_whole_where_it_is_asked_for() {
    let (folder, parts, _kept) = with_mail().await;
    let paused = folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    let run_id = folder.run(&["runs", "--json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    assert!(paused.err.contains(&format!("`luaplan approve {run_id} 1`")), "{paused}");
    assert!(!paused.err.contains("RUN") && !paused.err.contains("CALL"), "{paused}");
    let whole = format!("luaplan show {run_id} --call 1 --full");
    for page in [&["approve"][..], &["approve", "last"], &["show", "last"], &["show", "last", "--call", "1"]]
    {
        let shown = folder.run(page).exits(0);
        assert!(shown.out.len() < PAGE_BYTES_MAX, "{page:?}: {} bytes", shown.out.len());
        assert!(shown.out.contains(&whole), "{page:?}: {shown}");
        assert!(shown.out.contains("KiB)") && shown.out.contains("list.csv"), "{page:?}: {shown}");
        assert!(!shown.out.contains("the last line"), "{page:?}: {shown}");
        assert!(!shown.out.contains("approve RUN") && !shown.out.contains("CALL"), "{page:?}: {shown}");
    }
    let listed = folder.run(&["approve"]).exits(0);
    assert!(listed.out.contains(&format!("luaplan approve {run_id} 1\n")), "{listed}");
    for page in
        [&["show", "last", "--full"][..], &["show", "last", "--call", "1", "--full"], &["approve", "--json"]]
    {
        let shown = folder.run(page).exits(0);
        assert!(shown.out.contains("the last line"), "{page:?} left something out");
    }
    let data = folder.run(&["show", "last", "--call", "1", "--json"]).exits(0).json();
    assert_eq!(data["approvals"][0]["arguments"]["subject"], "Report");
    let absent = folder.run(&["show", "last", "--call", "9"]).fails(2, "not_found");
    assert!(absent.err.contains("its calls are 1"), "{absent}");

    folder.run(&["approve", "last", "1", "--no-resume"]).exits(0);
    folder.run(&["resume", "last"]).exits(0);
    let shown = folder.run(&["show", "last", "--call", "1"]).exits(0);
    assert!(shown.out.contains("`once` by ") && shown.out.contains("done: "), "{shown}");
    parts.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_arguments_leave_the_others_and_are_shown_before() {
    let (folder, parts, _kept) = with_mail().await;
    folder.run(&["run", "plan.lua"]).exits(5);
    let edited = folder
        .run(&["approve", "last", "1", "--argument", "to=team@company.com", "--argument", "subject=2026"])
        .exits(0);
    for line in ["- to       \"admin@company.com\"", "+ to       \"team@company.com\"", "+ subject  \"2026\""]
    {
        assert!(edited.err.contains(line), "{line}: {edited}");
    }
    assert!(edited.err.len() < PAGE_BYTES_MAX && !edited.err.contains("body"), "{edited}");
    let mail = parts.received()[0].summary().unwrap();
    assert_eq!((mail.to.as_slice(), mail.subject.as_str()), (&["team@company.com".to_owned()][..], "2026"));
    assert_eq!(mail.attachments.len(), 1, "an edit of two arguments took the file along");

    // As recorded, the plan wrote other arguments than were sent: a test made of the run passes all the same.
    let made = folder.run(&["test", "from-run", "last", "--output", "made", "--json"]).exits(0).json();
    assert_eq!(made["passes"], true, "{made}");

    folder.run(&["run", "plan.lua"]).exits(5);
    let merged = folder
        .run(&["approve", "last", "1", "--edit", r#"{"subject": "merged", "attachments": null}"#])
        .exits(0);
    assert!(merged.err.contains("- attachments") && !merged.err.contains("+ attachments"), "{merged}");
    let mail = parts.received()[1].summary().unwrap();
    assert_eq!((mail.subject.as_str(), mail.attachments.len()), ("merged", 0));
    assert_eq!(mail.to, ["admin@company.com"]);
    parts.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_gets_all_arguments_and_its_file_is_gone_afterwards() {
    let (folder, parts, _kept) = with_mail().await;
    folder.run(&["run", "plan.lua"]).exits(5);
    let edit = ["approve", "last", "1", "--edit"];
    let none = folder.run(&edit).fails(2, "usage");
    assert!(none.err.contains("EDITOR"), "{none}");
    let unchanged = folder.run_with(&[("EDITOR", "true")], &edit).fails(2, "bad_request");
    assert!(unchanged.err.contains("stay as they are"), "{unchanged}");
    folder.run_with(&[("EDITOR", "false")], &edit).fails(2, "usage");
    folder.run_with(&[("EDITOR", "echo nothing >")], &edit).fails(2, "usage");
    let edited = folder.run_with(&[("EDITOR", "sed -i s/the.last.line/the.new.end/")], &edit).exits(0);
    assert!(edited.err.contains("…") && edited.err.contains("the.new.end"), "{edited}");
    assert!(edited.err.len() < PAGE_BYTES_MAX, "{} bytes", edited.err.len());
    assert_eq!(parts.received()[0].summary().unwrap().attachments.len(), 1);
    let left: Vec<_> = std::fs::read_dir(folder.join(".luaplan"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.starts_with("edit-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    parts.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_is_none_decides_nothing() {
    let (folder, parts, _kept) = with_mail().await;
    folder.run(&["run", "plan.lua"]).exits(5);
    for (words, code, says) in [
        (&["--argument", "to"][..], "usage", "has no `=`"),
        (&["--argument", "nope=1"], "bad_arguments", "nope"),
        (&["--argument", "to=admin@company.com"], "bad_request", "stay as they are"),
        (&["--edit", "[1]"], "bad_request", "not an object"),
        (&["--edit", "{"], "bad_request", "--edit"),
    ] {
        let refused = folder.run(&[&["approve", "last", "1"], words].concat());
        assert!([2, 1].contains(&refused.code), "{words:?}: {refused}");
        assert!(refused.err.contains(code) && refused.err.contains(says), "{words:?}: {refused}");
    }
    folder.run(&["approve", "last", "1", "--edit", "{}", "--once"]).exits(2);
    // `--set` is a key of the configuration in every command.
    let set =
        folder.run(&["approve", "last", "1", "--set", "to=a@company.com"]).fails(2, "config_unknown_key");
    assert!(set.err.contains("--argument to=a@company.com"), "{set}");
    let none = folder.run(&["approve", "last", "1", "--for", "90d"]).fails(2, "bad_request");
    assert!(none.err.contains("limit \"30d\", seen \"90d\""), "{none}");
    let which = folder.run(&["approve", "--once"]).fails(2, "usage");
    assert!(which.err.contains("`luaplan approve` lists"), "{which}");
    assert!(parts.received().is_empty());
    let waits: Json = folder.run(&["approve", "--json"]).exits(0).json();
    assert_eq!(waits.as_array().map(Vec::len), Some(1), "{waits}");
    assert_eq!(waits[0]["decision"], json!(null));
    parts.stop().await;
}
