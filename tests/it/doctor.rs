//! `doctor` on real parts: 0 all well, 1 cannot run, 2 warnings.

use luaplan::demo::{SmtpSink, SmtpSinkOptions};
use serde_json::{Value as Json, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Executor as _};

use crate::cli::Folder;
use crate::support::Part;

/// The state and message of one check.
fn check<'a>(report: &'a Json, name: &str) -> (&'a str, &'a str) {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no check `{name}` in {report:#}"));
    (found["state"].as_str().unwrap(), found["message"].as_str().unwrap())
}

async fn database(folder: &Folder) {
    let options = SqliteConnectOptions::new().filename(folder.join("app.db")).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    connection.execute("CREATE TABLE users (id INTEGER)").await.unwrap();
    connection.close().await.unwrap();
}

fn databases() -> String {
    let mut databases = vec!["main = \"sqlite:app.db\"".to_owned()];
    for (name, part) in [("postgres", Part::Postgres), ("mysql", Part::Mysql)] {
        databases.extend(part.place(name).map(|url| format!("{name} = \"{url}\"")));
    }
    databases.join(", ")
}

#[tokio::test(flavor = "multi_thread")]
async fn all_is_well_where_every_part_answers() {
    let folder = Folder::with(&[
        ("templates/a.txt", "{{ input }}"),
        ("keys.txt", "one a-key-that-is-long-enough-to-use\n"),
    ]);
    database(&folder).await;
    let mail = SmtpSink::start(SmtpSinkOptions::new(folder.join("mail"))).await.unwrap();
    let model = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = format!(
        "[tools.query_db]\ndatabases = {{ {} }}\nwrites = [\"main\"]\n[tools.send_email]\nsmtp = \"smtp://{}\"\nfrom = \"a@b.example\"\nallow_recipients = [\"*@b.example\"]\n[tools.fetch_url]\nallow_hosts = [\"c.example\"]\n[tools.transform_data]\ntemplates_dir = \"templates\"\n[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{}/v1\"\n[server]\napi_keys_file = \"keys.txt\"\n",
        databases(),
        mail.addr(),
        model.local_addr().unwrap()
    );
    folder.write("luaplan.toml", &settings);
    for file in ["luaplan.toml", "keys.txt"] {
        private(&folder, file);
    }
    let (folder, ended, human) = tokio::task::spawn_blocking(move || {
        let ended = folder.run(&["doctor", "--json"]);
        let human = folder.run(&["doctor"]);
        (folder, ended, human)
    })
    .await
    .unwrap();
    let report = ended.exits(0).json();
    assert_eq!(report["ok"], json!(true), "{report:#}");
    for name in [
        "engine",
        "configuration",
        "workers",
        "data folder",
        "tools",
        "database main",
        "mail",
        "model",
        "server",
    ] {
        assert_eq!(check(&report, name).0, "ok", "{report:#}");
    }
    assert_eq!(check(&report, "recipients").1, "only *@b.example");
    assert_eq!(check(&report, "hosts").1, "allowed: c.example; all others are blocked");
    let paths = check(&report, "paths").1;
    assert!(paths.contains("app.db (read and write)") && paths.contains("templates (read)"), "{paths}");
    let human = human.exits(0);
    assert!(human.out.lines().all(|line| line.starts_with("ok  ")), "{human}");
    assert_eq!(folder.read("luaplan.toml"), settings, "doctor must not write configuration");
    mail.stop().await;
}

#[cfg(unix)]
fn private(folder: &Folder, file: &str) {
    mode(folder, file, 0o600);
}

#[cfg(not(unix))]
fn private(_folder: &Folder, _file: &str) {}

#[cfg(unix)]
fn mode(folder: &Folder, file: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder.join(file), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The data folder holds what no other user of the machine should read.
fn assert_private(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(folder).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700, "{}", folder.display());
}

#[test]
fn warnings_tell_what_is_missing_and_each_has_a_help_text() {
    let folder = Folder::new();
    let report = folder.run(&["doctor", "--json"]).exits(2).json();
    assert_eq!(report["ok"], json!(false));
    for name in ["databases", "mail", "model"] {
        assert_eq!(check(&report, name).0, "warning", "{report:#}");
    }
    let helped =
        |check: &Json| check["state"] == "ok" || !check["help"].as_str().unwrap_or_default().is_empty();
    assert!(report["checks"].as_array().unwrap().iter().all(helped), "{report:#}");
    assert!(check(&report, "tools").1.contains("not set up: query_db, send_email, call_llm"));
    assert_eq!(folder.names(), [".luaplan"], "only the data folder is made");
}

#[test]
fn parts_that_do_not_answer_are_warnings_that_name_them() {
    let settings = "[tools.query_db]\ndatabases = { main = \"sqlite:absent.db\", far = \"postgres://u:hidden@127.0.0.1:1/d\" }\n[tools.send_email]\nsmtp = \"smtp://127.0.0.1:1\"\nfrom = \"a@b.example\"\n[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"NO_SUCH_KEY\"\nfallback = [{ provider = \"ollama\", model = \"n\", base_url = \"http://127.0.0.1:1\" }]\n";
    let folder = Folder::with(&[("luaplan.toml", settings)]);
    let ended = folder.run(&["doctor", "--json"]).exits(2);
    assert!(!ended.out.contains("hidden"), "{ended}");
    let report = ended.json();
    for (name, part) in [
        ("database main", "absent.db"),
        ("database far", "database_unreachable"),
        ("mail", "smtp_failed"),
        ("recipients", "nobody"),
        ("model key", "$NO_SUCH_KEY"),
        ("model", "openai/m at 127.0.0.1:1 cannot be reached"),
    ] {
        let (state, message) = check(&report, name);
        assert!(state == "warning" && message.contains(part), "{name}: {state} {message}");
    }
    assert!(ended.out.contains("ollama/n at 127.0.0.1:1"), "{ended}");
    let human = folder.run(&["doctor"]).exits(2);
    assert!(human.out.contains("export NO_SUCH_KEY="), "{human}");
}

#[test]
fn what_makes_runs_impossible_is_a_failure() {
    let folder = Folder::with(&[
        ("taken", "a file"),
        ("broken.toml", "store = = 1"),
        ("tool.toml", "[tools.fetch_url]\nurls_max = 0\n"),
    ]);
    for (words, name, part) in [
        (&["--set", "data_dir=taken"][..], "data folder", "taken"),
        (&["--config", "broken.toml"], "configuration", "broken.toml, line 1"),
        (&["--config", "absent.toml"], "configuration", "absent.toml"),
        (&["--config", "tool.toml"], "tools", "tool.toml, line 2"),
        (&["--set", "llm.model=m", "--set", "llm.base_url=nowhere"], "model", "llm.base_url"),
        (&["--set", "store=other"], "configuration", "store"),
    ] {
        let report = folder.run(&[&["doctor", "--json"], words].concat()).exits(1).json();
        let (state, message) = check(&report, name);
        assert!(state == "failed" && message.contains(part), "{words:?}: {state} {message}");
        let human = folder.run(&[&["doctor"], words].concat()).exits(1);
        assert!(human.out.contains("FAIL") && human.out.contains('→'), "{human}");
    }
    assert_eq!(folder.read("taken"), "a file");
}

#[cfg(unix)]
#[test]
fn files_that_others_may_write_or_read_are_warned_of() {
    let folder = Folder::with(&[
        (
            "luaplan.toml",
            "[tools.query_db]\ndatabases = { main = \"postgres://u:pw@127.0.0.1:1/d\" }\n[server]\napi_keys_file = \"keys.txt\"\n",
        ),
        ("keys.txt", "one a-key-that-is-long-enough-to-use\n"),
    ]);
    mode(&folder, "luaplan.toml", 0o666);
    mode(&folder, "keys.txt", 0o644);
    let ended = folder.run(&["doctor"]).exits(2);
    for part in [
        "may be written by others (mode 666)",
        "holds a password and may be read by others",
        "keys.txt may be read by others",
        "chmod 600",
    ] {
        assert!(ended.out.contains(part), "{part}: {ended}");
    }
    mode(&folder, "luaplan.toml", 0o600);
    mode(&folder, "keys.txt", 0o600);
    let ended = folder.run(&["doctor"]).exits(2);
    assert!(!ended.out.contains("by others"), "{ended}");
    folder.write("keys.txt", "# none\n");
    assert!(folder.run(&["doctor"]).out.contains("keys.txt holds no key"));
    let open = folder
        .run(&["doctor", "--set", "server.listen=0.0.0.0:80", "--set", "server.api_keys_file="])
        .exits(2);
    assert!(open.out.contains("refuses to listen on 0.0.0.0:80"), "{open}");
    let absent = folder.run(&["doctor", "--set", "server.api_keys_file=gone.txt"]).exits(2);
    assert!(absent.out.contains("gone.txt: "), "{absent}");
}

#[cfg(unix)]
#[test]
fn a_password_in_the_environment_is_in_no_file() {
    let folder = Folder::with(&[]);
    for (rest, is_held) in [
        ("# postgres://USER:PASSWORD@HOST:5432/DATABASE", false),
        ("# was: postgres://luaplan:pw@127.0.0.1:1/d", true),
        ("# postgres://USER:PASSWORD@HOST/D, was: postgres://luaplan:pw@127.0.0.1:1/d", true),
    ] {
        let settings = format!("store = \"postgres\"\n[journal]\nurl = \"env:RUNS_AT\"  {rest}\n");
        folder.write("luaplan.toml", settings);
        mode(&folder, "luaplan.toml", 0o644);
        let mut doctor = folder.command(&["doctor", "--json"]);
        doctor.env("RUNS_AT", "postgres://luaplan:pw@127.0.0.1:1/d");
        let out = String::from_utf8(doctor.output().unwrap().stdout).unwrap();
        assert!(out.contains("\"configuration\""), "{out}");
        assert_eq!(out.contains("holds a password"), is_held, "{rest}: {out}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_in_a_database_still_has_its_data_folder_made() {
    let Some(database) = crate::postgres_support::Database::new("the data folder").await else { return };
    let folder = Folder::with(&[("plan.lua", "function run() return 1 end")]);
    let settings =
        format!("store = \"postgres\"\ndata_dir = \"deep/data\"\n[journal]\nurl = \"{}\"\n", database.url());
    folder.write("luaplan.toml", settings);
    private(&folder, "luaplan.toml");
    let folder = tokio::task::spawn_blocking(move || {
        let report = folder.run(&["doctor", "--json"]).exits(2).json();
        let (state, message) = check(&report, "data folder");
        assert!(state == "ok" && message.ends_with("deep/data: created"), "{state} {message}");
        assert_private(&folder.join("deep/data"));
        std::fs::remove_dir_all(folder.join("deep")).unwrap();
        folder.run(&["run", "plan.lua"]).exits(0);
        assert_private(&folder.join("deep/data"));
        folder
    })
    .await
    .unwrap();
    // A failure to make one is reported, and no run is started without it.
    std::fs::remove_dir_all(folder.join("deep")).unwrap();
    folder.write("deep", "a file");
    tokio::task::spawn_blocking(move || {
        let refused = folder.run(&["run", "plan.lua"]);
        assert!(refused.code != 0 && refused.err.contains("deep/data"), "{refused}");
        let report = folder.run(&["doctor", "--json"]).exits(1).json();
        let failed =
            report["checks"].as_array().unwrap().iter().find(|one| one["state"] == "failed").unwrap();
        assert!(failed["message"].as_str().unwrap().contains("deep/data"), "{report:#}");
    })
    .await
    .unwrap();
    drop(database);
}

/// A plan that will fail each time it is called is found before it is.
#[test]
fn an_agent_that_cannot_do_its_work_is_named_with_the_remedy() {
    let folder = Folder::with(&[
        (
            "counter.lua",
            "function run(c)\n  local rows = query_db{ table = \"users\" }\n  if rows.error then return 0 end\n  \
            pcall(send_email, \"a@b.example\", \"x\", \"y\")\n  return transform_data(rows, \"sort\", \"json\")\nend",
        ),
        ("broken.lua", "function run(c)\n  return undefined_name(c)\nend"),
        ("good.lua", "function run(c) return 1 end"),
    ]);
    let good = "[agents.good]\nplan = \"good.lua\"\n[agents.planned]\ntask = \"do\"\n";
    folder.write("luaplan.toml", good);
    private(&folder, "luaplan.toml");
    folder.run(&["config", "validate"]).exits(0);
    let report = folder.run(&["doctor", "--json"]).exits(2).json();
    assert_eq!(check(&report, "agents"), ("ok", "good, planned"));

    let lacking = format!("{good}[agents.counter]\nplan = \"counter.lua\"\ntools = [\"query_db\"]\n");
    folder.write("luaplan.toml", &lacking);
    let refused = folder.run(&["config", "validate"]).exits(2);
    for part in [
        "config_invalid",
        "luaplan.toml, line 6",
        "agents.counter.plan: counter.lua:4: it names the tool `send_email`, which the agent lacks",
        "counter.lua:5: it names the tool `transform_data`",
        "add `send_email`, `transform_data` to `agents.counter.tools`",
    ] {
        assert!(refused.err.contains(part), "{part}: {refused}");
    }
    assert!(!refused.err.contains("`query_db`, which"), "{refused}");

    let off = "[agents.mailer]\nplan = \"good.lua\"\ntools = [\"send_email\"]\n[tools.send_email]\nenabled = false\n";
    folder.write("luaplan.toml", format!("{lacking}[agents.broken]\nplan = \"broken.lua\"\n{off}"));
    let report = folder.run(&["doctor", "--json"]).exits(2).json();
    let warned: Vec<(&str, &str)> = (report["checks"].as_array().unwrap().iter())
        .filter(|check| check["name"] == "agents" && check["state"] == "warning")
        .map(|check| (check["message"].as_str().unwrap(), check["help"].as_str().unwrap()))
        .collect();
    assert_eq!(warned.len(), 3, "{warned:#?}");
    assert!(
        warned[0].0.contains("agents.broken.plan: broken.lua:2: plan_unknown_tool: `undefined_name`"),
        "{warned:?}"
    );
    assert!(warned[2].0.contains("agents.mailer.tools: send_email is switched off"), "{warned:?}");
    assert!(warned[2].1.contains("take send_email out of `agents.mailer.tools`"), "{warned:?}");
    // With send_email gone, only the tool that there is can be added.
    assert!(warned[1].1.contains("add `transform_data` to"), "{warned:?}");
}
