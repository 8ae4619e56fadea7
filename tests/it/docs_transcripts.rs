//! What the guides show as output is what the command prints.

use std::path::PathBuf;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};

use crate::cli::Folder;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn assert_shown(document: &str, output: &str) {
    let text = read(document);
    assert!(text.contains(output.trim_end()), "{document} does not show this:\n{output}");
}

/// The part of `text` between two marks.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

const HELLO: [&str; 4] = ["run", "plans/hello.lua", "--context", "{\"name\": \"world\"}"];

#[test]
fn the_first_folder_is_as_shown() {
    let folder = Folder::new();
    let init = folder.run(&["init", "lab"]);
    assert_shown("docs/first-task.md", &init.out);
    let plan = folder.join("lab/plans/hello.lua");
    assert!(read("README.md").contains(std::fs::read_to_string(&plan).unwrap().trim_end()));
    let arguments = ["run", "lab/plans/hello.lua", HELLO[2], HELLO[3]];
    let hello = folder.run(&arguments);
    assert_shown("docs/first-task.md", &hello.out);
    assert_shown("README.md", &hello.out);
}

/// `doctor` as the guide shows it: all its checks in their order, word for word where the machine does not show.
fn assert_examined_as_shown(guide: &str, folder: &Folder) {
    let seen = folder.run(&["doctor"]);
    let shown = between(guide, "luaplan doctor\n\n```text\n", "```");
    let names = |text: &str| -> Vec<String> {
        let of_checks = text.lines().filter(|line| !line.starts_with(' '));
        of_checks.map(|line| line.chars().skip(6).take(17).collect::<String>().trim().to_owned()).collect()
    };
    assert_eq!(names(shown), names(&seen.out), "{seen}");
    for name in ["engine", "tools", "mail", "hosts"] {
        let line =
            seen.out.lines().find(|line| line.get(6..).is_some_and(|rest| rest.starts_with(name))).unwrap();
        assert!(shown.lines().any(|known| known == line), "the guide does not show this: {line}");
    }
    let help = seen.out.lines().skip_while(|line| !line.contains("no SMTP server")).nth(1).unwrap();
    assert!(shown.contains(help), "{help}");
}

#[tokio::test]
async fn the_first_task_runs_on_the_database_it_makes() {
    let guide = read("docs/first-task.md");
    let folder = Folder::new();
    let url = format!("sqlite:{}?mode=rwc", folder.join("app.db").display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let sql = between(&guide, "<<'SQL'\n", "\nSQL\n").to_owned();
    database.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    database.close().await.unwrap();
    folder.write("luaplan.toml", between(&guide, "```toml\n", "```"));
    folder.write("plans/unpaid.lua", between(&guide, "```lua runnable\n", "```"));
    let run = folder.run(&["run", "plans/unpaid.lua"]);
    assert_shown("docs/first-task.md", &run.out);
    assert_examined_as_shown(&guide, &folder);

    let guide = read("docs/writing-plans.md");
    let careless = between(&guide, "```lua\nfunction run", "```");
    folder.write("plans/careless.lua", format!("function run{careless}"));
    assert_shown("docs/writing-plans.md", &folder.run(&["run", "plans/careless.lua"]).err);
    folder.write("plans/loop.lua", between(&guide, "as `plans/loop.lua`\n\n```lua runnable\n", "```"));
    let limited = folder.run(&["run", "plans/loop.lua", "--limit", "instructions=1000000"]);
    assert_shown("docs/writing-plans.md", &limited.err);
    let wrong = folder.read("plans/unpaid.lua").replace("query_db{", "query_dbase{");
    folder.write("plans/wrong.lua", wrong);
    assert_shown("docs/writing-plans.md", &folder.run(&["check", "plans/wrong.lua"]).out);
}

#[test]
fn a_limit_that_is_hit_reads_as_shown() {
    let folder = Folder::with(&[("loop.lua", "function run(context)\n  while true do end\nend\n")]);
    let limited = folder.run(&["run", "loop.lua", "--limit", "instructions=100000"]);
    assert_shown("docs/limits.md", &limited.err);
}

#[test]
fn a_plan_is_explained_as_shown() {
    let guide = read("docs/explain.md");
    let folder = Folder::new();
    folder.write("plans/digest.lua", between(&guide, "```lua runnable\n", "```"));
    let mail =
        "smtp = \"smtp://127.0.0.1:1\"\nfrom = \"a@example.com\"\nallow_recipients = [\"*@example.com\"]\n";
    let database = "[tools.query_db]\ndatabases = { main = \"sqlite:app.db\" }\n";
    folder.write("luaplan.toml", format!("{database}[tools.send_email]\n{mail}"));
    assert_shown("docs/explain.md", &folder.run(&["explain", "plans/digest.lua"]).out);
    let svg = folder.run(&["explain", "plans/digest.lua", "--graph", "svg", "--output", "digest.svg"]);
    assert_eq!(svg.out, "wrote digest.svg\n");
    assert!(folder.read("digest.svg").starts_with("<svg"));
}

#[test]
fn the_named_context_counts_as_shown() {
    let guide = read("docs/writing-plans.md");
    let folder = Folder::new();
    folder.write("plans/count.lua", between(&guide, "as `plans/count.lua`\n\n```lua runnable\n", "```"));
    let named = ["run", "plans/count.lua", "--context-name", "visits"];
    folder.run(&[&named[..], &["--context", "{\"step\": 5}"]].concat());
    assert_shown("docs/writing-plans.md", &folder.run(&named).out);
}

#[test]
fn every_example_with_mocks_runs_on_them() {
    let folder = Folder::new();
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let example = entry.unwrap().path();
        if !example.join("mocks.json").is_file() {
            continue;
        }
        let path = |name: &str| example.join(name).display().to_string();
        let context = format!("@{}", path("context.json"));
        let (plan, mocks) = (path("plan.lua"), path("mocks.json"));
        let ended = folder.run(&["run", &plan, "--context", &context, "--mock", &mocks, "--json"]);
        assert_eq!(ended.code, 0, "{plan}: {}{}", ended.out, ended.err);
        let outcome: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(outcome["status"], "succeeded", "{plan}");
        count += 1;
    }
    assert!(count >= 9, "only {count} examples with mocks");
}

#[test]
fn a_missing_key_reads_as_shown() {
    let folder = Folder::new();
    let hosted = ["--set", "llm.provider=openai", "--set", "llm.model=NAME", "task", "Say hello"];
    assert_shown("docs/first-task.md", &folder.run(&hosted).err);
}
