//! Configuration through the real program: layers, refusals, and what is never shown.

use serde_json::{Value as Json, json};

use crate::cli::Folder;

fn shown(folder: &Folder, variables: &[(&str, &str)], words: &[&str]) -> Vec<(String, Json, String)> {
    let ended = folder.run_with(variables, &[&["config", "show", "--json"], words].concat()).exits(0);
    let rows = ended.json();
    let row = |row: &Json| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("key"), row["value"].clone(), text("source"))
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

fn of<'a>(rows: &'a [(String, Json, String)], key: &str) -> (&'a Json, &'a str) {
    let (_, value, source) = rows.iter().find(|row| row.0 == key).unwrap_or_else(|| panic!("no {key}"));
    (value, source)
}

#[test]
fn each_value_is_shown_with_file_and_line_variable_flag_or_default() {
    let folder = Folder::with(&[
        (
            ".config/luaplan/config.toml",
            "data_dir = \"user\"\nstore = \"sqlite\"\n\n[server]\nbody_limit = \"1MiB\"\nlisten = \"127.0.0.1:1\"\n",
        ),
        (
            "luaplan.toml",
            "# mine\ndata_dir = \"project\"\n[tools.query_db]\ndatabases = { main = \"sqlite:a.db\" }\nrate = \"5/s\"\n[limits]\nwall = \"9s\"\n",
        ),
    ]);
    let variables = [
        ("LUAPLAN_PLANNER__REPAIR_ROUNDS", "4"),
        ("LUAPLAN_SERVER__LISTEN", "127.0.0.1:2"),
        ("LUAPLAN_LLM__MODEL", "7"),
    ];
    let rows =
        shown(&folder, &variables, &["--set", "server.listen=127.0.0.1:3", "--set", "llm.stream=false"]);
    let file = |name: &str, line: usize| format!("{}:{line}", folder.join(name).display());
    assert_eq!(of(&rows, "data_dir"), (&json!("project"), &*file("luaplan.toml", 2)));
    assert_eq!(of(&rows, "server.body_limit"), (&json!("1MiB"), &*file(".config/luaplan/config.toml", 5)));
    assert_eq!(
        of(&rows, "tools.query_db.databases.main"),
        (&json!("sqlite:a.db"), &*file("luaplan.toml", 4))
    );
    assert_eq!(of(&rows, "tools.query_db.rate"), (&json!("5/s"), &*file("luaplan.toml", 5)));
    assert_eq!(of(&rows, "planner.repair_rounds"), (&json!(4), "$LUAPLAN_PLANNER__REPAIR_ROUNDS"));
    assert_eq!(of(&rows, "llm.model"), (&json!("7"), "$LUAPLAN_LLM__MODEL"));
    assert_eq!(of(&rows, "server.listen"), (&json!("127.0.0.1:3"), "flag"));
    assert_eq!(of(&rows, "llm.stream"), (&json!(false), "flag"));
    assert_eq!(of(&rows, "log.filter"), (&json!("warn"), "default"));
    assert_eq!(of(&rows, "limits.wall"), (&json!("9s"), &*file("luaplan.toml", 7)));
    assert_eq!(of(&rows, "limits.tool_calls"), (&json!(200), "profile standard"));
    assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted by key");
}

#[test]
fn the_file_is_named_by_flag_or_variable_and_must_then_exist() {
    let folder = Folder::with(&[
        ("a.toml", "data_dir = \"a\""),
        ("b.toml", "data_dir = \"b\""),
        ("luaplan.toml", "data_dir = \"c\""),
    ]);
    let data_dir = |variables: &[(&str, &str)], words: &[&str]| {
        of(&shown(&folder, variables, words), "data_dir").0.clone()
    };
    assert_eq!(data_dir(&[], &[]), json!("c"));
    assert_eq!(data_dir(&[("LUAPLAN_CONFIG", "b.toml")], &[]), json!("b"));
    assert_eq!(data_dir(&[("LUAPLAN_CONFIG", "b.toml")], &["--config", "a.toml"]), json!("a"));
    for words in [&["--config", "absent.toml", "config", "show"][..], &["--config", ".", "tools"]] {
        folder.run(words).fails(2, "config_unreadable");
    }
    folder.run_with(&[("LUAPLAN_CONFIG", "absent.toml")], &["runs"]).fails(2, "config_unreadable");
    folder.write("latin.toml", b"data_dir = \"caf\xe9\"");
    folder.run(&["--config", "latin.toml", "config", "validate"]).fails(2, "config_unreadable");
    let beside = folder.run_with(&[("XDG_CONFIG_HOME", "elsewhere")], &["config", "show"]).exits(0);
    assert!(beside.out.contains("\"c\""), "{beside}");
}

#[test]
fn a_fault_in_a_file_is_refused_with_its_line() {
    for (text, code, line, part) in [
        ("\nlisten = \"x\"", "config_unknown_key", 2, "`listen`"),
        (
            "[server]\n\nlisten = 7",
            "config_invalid",
            3,
            "server.listen: invalid type: integer `7`, expected text",
        ),
        ("agent_depth = \"two\"", "config_invalid", 1, "expected a whole number from 0 to 4294967295"),
        ("data_dir = { a = 1 }", "config_invalid", 1, "data_dir: invalid type: a table, expected text"),
        (
            "[mcp.crm]\nurl = \"https://x\"\n[mcp.crm.oauth]\nscopes = 3",
            "config_invalid",
            4,
            "mcp.crm.oauth.scopes: ",
        ),
        (
            "[server]\nbody_limit = 0",
            "config_invalid",
            2,
            "server.body_limit is `0`, expected a size above zero",
        ),
        ("[server]\nbody_limit = {}", "config_invalid", 2, "expected a number or text"),
        ("[tools.fetch_url]\nenabled = {}", "config_invalid", 2, "tools.fetch_url.enabled"),
        ("[serv]\n", "config_unknown_key", 1, "`serv`"),
        ("[server]\nlisten = \"localhost\"", "config_invalid", 2, "address and port"),
        ("[server]\nbody_limit = \"much\"", "config_invalid", 2, "size in bytes"),
        ("[server]\nmax_concurrent_runs = 0", "config_invalid", 2, "above zero"),
        ("[server]\nrequest_timeout = \"0s\"", "config_invalid", 2, "a time above zero"),
        ("[limits]\nprofile = \"lax\"", "config_invalid", 2, "no limit profile `lax`"),
        ("[limits]\nwall = \"2s\"\nfuel = 3", "config_unknown_key", 3, "no limit `fuel`"),
        ("[limits]\nmemory = true", "config_invalid", 2, "a number or text"),
        ("[limits]\nwall = -3", "config_invalid", 2, "limits.wall"),
        ("[rates]\nrun = \"often\"", "config_invalid", 2, "rates.run"),
        ("[rates]\nqueue_max = 0", "config_invalid", 2, "rates.queue_max"),
        ("[rates]\nqueue_max = -1", "config_invalid", 2, "-1"),
        ("[planner]\nrepair_rounds = 9", "config_invalid", 2, "at most 5"),
        ("[log]\nfilter = \"[[[\"", "config_invalid", 2, "log.filter"),
        ("[log]\nformat = \"xml\"", "config_invalid", 2, "`text` or `json`"),
        ("store = \"oracle\"", "config_invalid", 1, "store is `oracle`"),
        ("[tools.fetch_urls]\nrate = \"1/s\"", "config_unknown_key", 2, "no such tool"),
        ("[tools]\nfetch_url = 3", "config_invalid", 2, "expected a table"),
        ("[tools.fetch_url]\n\nratee = \"1/s\"", "config_unknown_key", 3, "did you mean `rate`?"),
        ("[tools.fetch_url]\nrate = \"1/x\"", "config_invalid", 2, "is not a rate"),
        ("[tools.fetch_url]\nburst = 0", "config_invalid", 2, "burst"),
        ("[tools.fetch_url]\nenabled = \"yes\"", "config_invalid", 2, "`true` or `false`"),
        ("[tools.fetch_url]\nurls_max = 0", "config_invalid", 2, "is zero"),
        ("[tools.fetch_url]\nallow_hosts = [\"http://x/y\"]", "config_invalid", 2, "allow_hosts"),
        ("[tools.query_db]\ndatabases = { main = \"oracle://h/d\" }", "config_invalid", 2, "main"),
        ("[tools.query_db]\ndatabases = [\"sqlite:a.db\"]", "config_invalid", 2, "databases"),
        ("[tools.send_email]\nfrom = \"a@b.example\"\nsmtp = \"ftp://h\"", "config_invalid", 3, "smtp"),
        ("[tools.transform_data]\ntemplates_dir = \"absent\"", "config_invalid", 2, "is not a folder"),
        ("[llm]\nprovider = \"openia\"", "config_invalid", 2, "unknown variant `openia`"),
        ("[llm]\nmodel = \"m\"\nbase_url = \"nowhere\"", "config_invalid", 3, "llm.base_url"),
        ("[llm]\nmodel = \"m\"\ntemperature = 3.5", "config_invalid", 3, "llm.temperature"),
        ("data_dir = \"a\"\ndata_dir = \"b\"", "config_invalid", 2, "duplicate key"),
        (
            "[tools.query_db]\nrows_max = 5\nbytes_max = \"much\"",
            "config_invalid",
            3,
            "tools.query_db.bytes_max",
        ),
        ("[tools.send_email]\nform = \"a@b.example\"", "config_unknown_key", 2, "did you mean `from`?"),
        ("[tools.call_llm]\nmodel = \"m\"", "config_unknown_key", 2, "unknown field `model`"),
        ("data_dir = = 1", "config_invalid", 1, "luaplan.toml"),
    ] {
        let folder = Folder::with(&[("luaplan.toml", text)]);
        let ended = folder.run(&["config", "validate"]);
        assert_eq!(ended.code, 2, "{text:?}: {ended}");
        let ended = ended.fails(2, code);
        assert!(ended.err.contains(&format!("luaplan.toml, line {line}: ")), "{text:?}: {ended}");
        assert!(ended.err.contains(part), "{text:?}: {ended}");
        let data = folder.run(&["config", "validate", "--json"]).exits(2).json();
        assert_eq!((&data["error"]["code"], &data["error"]["line"]), (&json!(code), &json!(line)), "{data}");
    }
}

#[test]
fn a_fault_in_a_variable_or_flag_names_it() {
    let folder = Folder::new();
    for (name, value, code) in [
        ("LUAPLAN_SERVER__LISEN", "x", "config_unknown_key"),
        ("LUAPLAN_CONFIGURATION", "x", "config_unknown_key"),
        ("LUAPLAN_", "x", "config_unknown_key"),
        ("LUAPLAN_RATES__QUEUE_MAX", "many", "config_invalid"),
        ("LUAPLAN_SERVER__LISTEN", "here", "config_invalid"),
        ("LUAPLAN_LIMITS__WALL", "soon", "config_invalid"),
        ("LUAPLAN_TOOLS__FETCH_URL__RATEE", "1/s", "config_unknown_key"),
        ("LUAPLAN_TOOLS__NOTHING__RATE", "1/s", "config_unknown_key"),
    ] {
        let ended = folder.run_with(&[(name, value)], &["config", "validate"]).fails(2, code);
        assert!(ended.err.contains(name), "{ended}");
    }
    for (pair, code, part) in [
        ("server.lisen=x", "config_unknown_key", "server.lisen"),
        ("llm=5", "config_invalid", "the flag for `llm`"),
        ("=5", "config_unknown_key", "the flag for ``"),
        ("rates..run=5/s", "config_unknown_key", "rates..run"),
        ("server.listen=here", "config_invalid", "server.listen"),
        ("tools.fetch_url.ratee=1/s", "config_unknown_key", "tools.fetch_url"),
        ("tools.nothing.rate=1/s", "config_unknown_key", "tools.nothing"),
        ("server.listen", "usage", "has no `=`"),
    ] {
        let ended = folder.run(&["--set", pair, "config", "validate"]).fails(2, code);
        assert!(ended.err.contains(part), "{ended}");
    }
}

#[test]
fn flags_take_text_numbers_lists_and_tables() {
    let folder = Folder::new();
    let rows = shown(
        &folder,
        &[],
        &[
            "--set",
            "llm.model=llama3.2:1b",
            "--set",
            "llm.prompt_tokens=2000",
            "--set",
            "llm.temperature=0.5",
            "--set",
            "tools.fetch_url.allow_hosts=[\"a.example\", \"b.example:8080\"]",
            "--set",
            "tools.query_db.databases={main=\"sqlite:x.db\", other=\"sqlite:y.db\"}",
            "--set",
            "tools.send_email.enabled=false",
            "--set",
            "data_dir=a=b",
            "--set",
            "limits.wall=250ms",
            "--set",
            "limits.tool_calls=7",
        ],
    );
    for (key, value) in [
        ("llm.model", json!("llama3.2:1b")),
        ("llm.prompt_tokens", json!(2000)),
        ("llm.temperature", json!(0.5)),
        ("tools.fetch_url.allow_hosts", json!(["a.example", "b.example:8080"])),
        ("tools.query_db.databases.other", json!("sqlite:y.db")),
        ("tools.send_email.enabled", json!(false)),
        ("data_dir", json!("a=b")),
        ("limits.wall", json!("250ms")),
        ("limits.tool_calls", json!(7)),
    ] {
        assert_eq!(of(&rows, key), (&value, "flag"), "{key}");
    }
    let tools = folder.run(&["tools", "--set", "tools.send_email.enabled=false"]).exits(0);
    assert!(!tools.out.contains("send_email") && tools.out.contains("fetch_url"), "{tools}");
}

#[test]
fn a_password_in_the_configuration_is_never_printed() {
    let secret = "s3cr3t-Pa55";
    let settings = format!(
        "[tools.query_db]\ndatabases = {{ main = \"postgres://u:{secret}@127.0.0.1:1/db\", two = \"mysql://127.0.0.1:1/db?user=u&password={secret}\" }}\n"
    );
    let folder = Folder::with(&[
        ("luaplan.toml", &settings),
        ("plan.lua", "function run() local r = query_db{sql = 'SELECT 1'} return r end"),
    ]);
    for words in [
        &["config", "show"][..],
        &["config", "validate"],
        &["doctor"],
        &["run", "plan.lua"],
        &["show", "last"],
        &["audit"],
        &["runs"],
        &["--set", &format!("tools.query_db.databases=postgres://u:{secret}@h/db"), "config", "validate"],
        &["--set", &format!("tools.query_db=postgres://u:{secret}@h/db"), "config", "validate"],
        &[
            "--set",
            &format!("tools.send_email={{smtp=\"smtp://u:{secret}@h:25\",from=\"a@b.example\"}}"),
            "config",
            "validate",
        ],
        &[
            "--set",
            &format!("tools.send_email={{smtp=\"smtp://u:{secret}@h:25\",from=\"a@b.example\"}}"),
            "config",
            "show",
        ],
        &["--set", &format!("llm={{model=\"m\",base_url=\"http://u:{secret}@h/v1\"}}"), "config", "validate"],
        &["--set", &format!("server.listen=http://u:{secret}@h"), "config", "validate"],
        &["--set", &format!("store=postgres://u:{secret}@h/db"), "config", "validate"],
        &["--set", &format!("rates.queue_max=\"http://u:{secret}@h\""), "config", "validate"],
    ] {
        for form in [&[][..], &["--json"]] {
            let ended = folder.run(&[words, form].concat());
            assert!(!ended.out.contains(secret) && !ended.err.contains(secret), "{words:?}: {ended}");
        }
    }
    let shown = folder.run(&["config", "show"]).exits(0);
    assert!(shown.out.contains("postgres://u:***@127.0.0.1:1/db"), "{shown}");
    assert!(shown.out.contains("password=***"), "{shown}");
    folder.write("luaplan.toml", format!("store = \"postgres://u:{secret}@h/db\nx = 1"));
    let broken = folder.run(&["config", "validate"]).fails(2, "config_invalid");
    assert!(!broken.err.contains(secret), "{broken}");
}

#[test]
fn the_address_a_model_would_be_asked_at_is_among_the_values_in_force() {
    let folder = crate::cli::Folder::new();
    let shown = folder.run(&["config", "show", "--set", "llm.provider=anthropic"]).exits(0);
    let line = shown.out.lines().find(|line| line.starts_with("llm.base_url")).unwrap();
    assert!(line.contains("https://api.anthropic.com/v1/") && line.ends_with("default"), "{shown}");
}

/// Waits for a command without an end to end all the same.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_where_a_file_is_wanted() {
    let folder = Folder::with(&[("p.lua", "function run() return 1 end")]);
    let fifo = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(fifo.success());
    for (setting, code) in [
        ("server.api_keys_file=PATH", "config_unreadable"),
        ("policy.file=PATH", "config_unreadable"),
        ("agents.a.plan=PATH", "config_invalid"),
        ("tools.fetch_url.ca_file=PATH", "file_unreadable"),
    ] {
        for path in ["pipe", "/dev/zero"] {
            let ended = folder.run(&["config", "validate", "--set", &setting.replace("PATH", path)]);
            let ended = ended.fails(2, code);
            assert!(ended.err.contains("it is no regular file"), "{ended}");
        }
    }
    for path in ["pipe", "/dev/zero"] {
        folder.run(&["--config", path, "config", "validate"]).fails(2, "config_unreadable");
        // A secret that is not there is told where a tool wants it.
        folder.run(&["config", "validate", "--set", &format!("secrets.word.file={path}")]).exits(0);
    }
    folder.run(&["run", "/dev/zero"]).fails(2, "file_unreadable");
    folder.run(&["run", "p.lua", "--context", "@/dev/zero"]).fails(2, "file_unreadable");
    folder.run(&["--config", "/dev/null", "run", "p.lua"]).exits(0);
}

#[test]
fn sizes_are_numbers_or_text() {
    let text = "[server]\nbody_limit = 65536\nresult_max = \"1MiB\"\nmcp_result_max = 65536";
    let folder = Folder::with(&[("luaplan.toml", text)]);
    folder.run(&["config", "validate"]).exits(0);
    folder.run(&["--set", "server.body_limit=4096", "config", "validate"]).exits(0);
}
