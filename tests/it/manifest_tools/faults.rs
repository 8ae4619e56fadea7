//! What is wrong with a manifest is told with file, line and key, before anything runs.

use super::{Shop, manifest};

const HTTP: &str = "name = \"t\"\ndescription = \"Looks.\"\nkind = \"http\"\neffect = \"read\"\n[params]\ntype = \"object\"\nproperties = { a = { type = \"string\" } }\nrequired = [\"a\"]\n[settings]\nurl = \"https://api.example.com/{a}\"\n";
const SQL: &str = "name = \"t\"\ndescription = \"Looks.\"\nkind = \"sql\"\neffect = \"read\"\n[params]\ntype = \"object\"\nproperties = { a = { type = \"string\" } }\n[settings]\nsql = \"SELECT * FROM t WHERE a = :a\"\n";
const COMMAND: &str = "name = \"t\"\ndescription = \"Looks.\"\nkind = \"command\"\neffect = \"read\"\n[params]\ntype = \"object\"\nproperties = { a = { type = \"string\" } }\n[settings]\nargv = [\"wc\", \"{a}\"]\n";

async fn refusal(text: &str) -> String {
    match Shop::try_open(&[("t", text)], &[], &[]).await {
        Ok(_) => panic!("taken:\n{text}"),
        Err(error) => {
            assert!(error.code().as_str().starts_with("config_"), "{error}");
            error.message().to_owned()
        }
    }
}

#[tokio::test]
async fn the_manifests_these_faults_are_planted_in_are_good() {
    for text in [HTTP, SQL, COMMAND] {
        Shop::open(&[("t", text)], &[], &[]).await;
    }
}

#[tokio::test]
async fn faults_name_file_line_and_key() {
    let cases = [
        (
            HTTP,
            "https://api.example.com/{a}",
            "https://{a}.example.com/",
            10,
            "settings.url",
            "the host is fixed",
        ),
        (HTTP, "{a}", "{b}", 10, "settings.url", "`{b}` is no parameter"),
        (HTTP, "required = [\"a\"]\n", "", 9, "settings.url", "may be left out of a call"),
        (HTTP, "[settings]\n", "[settings]\nmethod = \"DELETE\"\n", 4, "effect", "the method changes things"),
        (HTTP, "[settings]\n", "[settings]\nmethod = \"LOOK\"\n", 10, "settings.method", "LOOK"),
        (HTTP, "[settings]\n", "[settings]\nbody = { json = {} }\n", 10, "settings.body", "no body"),
        (HTTP, "[settings]\n", "[settings]\nheadres = {}\n", 10, "settings.headres", "unknown field"),
        (
            HTTP,
            "[settings]\n",
            "[settings]\nheaders = { Host = \"x\" }\n",
            10,
            "settings.headers.Host",
            "set by the client",
        ),
        (HTTP, "[settings]\n", "[settings]\nquery = { q = \"{\" }\n", 10, "settings.query", "brace"),
        (
            HTTP,
            "[settings]\n",
            "[settings]\nresponse = { pointer = \"data\" }\n",
            10,
            "settings.response.pointer",
            "JSON pointer",
        ),
        (
            HTTP,
            "[settings]\n",
            "[settings]\npages = { by = \"page\", max = 2 }\n",
            10,
            "settings.pages.parameter",
            "needs it",
        ),
        (
            HTTP,
            "[settings]\n",
            "[settings]\npages = { by = \"link_header\", max = 0 }\n",
            10,
            "settings.pages.max",
            "from 1",
        ),
        (
            HTTP,
            "[settings]\n",
            "[settings]\nauth = { basic = { user = \"a:b\", password = \"x\" } }\n",
            10,
            "settings.auth",
            "no colon",
        ),
        (SQL, ":a", ":b", 9, "settings.sql", "`:b` is no parameter"),
        (SQL, " WHERE a = :a", "", 9, "settings.sql", "`a` has no place"),
        (SQL, "SELECT * FROM t WHERE", "UPDATE t SET b = 1 WHERE", 4, "effect", "the statement writes"),
        (SQL, "effect = \"read\"", "effect = \"write\"", 4, "effect", "only reads"),
        (SQL, "SELECT *", "DROP TABLE t; SELECT *", 9, "settings.sql", "more than one statement"),
        (SQL, ":a", "?", 9, "settings.sql", "has no name"),
        (COMMAND, "\"wc\"", "\"{a}\"", 9, "settings.argv", "the program is fixed"),
        (COMMAND, "\"wc\"", "\"./wc\"", 9, "settings.argv", "whole path"),
        (COMMAND, "argv = [\"wc\", \"{a}\"]", "argv = []", 9, "settings.argv", "begins with the program"),
        (COMMAND, "[settings]\n", "[settings]\nstdin = \"b\"\n", 9, "settings.stdin", "no parameter"),
        (
            COMMAND,
            "[settings]\n",
            "[settings]\nenvironment = { LD_PRELOAD = \"x\" }\n",
            9,
            "settings.environment.LD_PRELOAD",
            "cannot be set",
        ),
        (COMMAND, "[settings]\n", "[settings]\nsuccess = [300]\n", 9, "settings.success", "from 0 to 255"),
        (COMMAND, "kind = \"command\"", "kind = \"builtin\"", 3, "kind", "`http`, `sql` or `command`"),
        (COMMAND, "kind = \"command\"", "kind = \"mcp\"", 3, "kind", "`http`, `sql` or `command`"),
        (COMMAND, "effect = \"read\"", "effect = \"look\"", 4, "effect", "one of read"),
        (COMMAND, "effect = \"read\"", "efect = \"read\"", 4, "efect", "unknown key"),
    ];
    for (text, from, to, line, key, part) in cases {
        assert!(text.contains(from), "{from}");
        let message = refusal(&text.replacen(from, to, 1)).await;
        assert!(message.contains(&format!("t.toml, line {line}: ")), "line {line}: {message}");
        assert!(message.contains(&format!("`{key}")), "`{key}`: {message}");
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[tokio::test]
async fn names_that_plans_know_already_are_refused() {
    for name in [
        "query_db",
        "send_email",
        "json",
        "list",
        "parallel",
        "print",
        "os",
        "json.more",
        "query_db.x",
        "null",
    ] {
        let text = manifest(name, "command", "read", "{}", "[settings]\nargv = [\"true\"]");
        let Err(error) = Shop::try_open(&[(name, &text)], &[], &[]).await else { panic!("{name} was taken") };
        assert!(error.message().contains(&format!("{name}.toml, line 1: `name`")), "{error}");
        assert!(error.message().contains("already"), "{error}");
    }
    let one = manifest("crm", "command", "read", "{}", "[settings]\nargv = [\"true\"]");
    let inside = one.replace("\"crm\"", "\"crm.find\"");
    let Err(error) = Shop::try_open(&[("crm", &one), ("crm.find", &inside)], &[], &[]).await else {
        panic!("both were taken")
    };
    assert!(error.message().contains("cannot both be tools"), "{error}");
    let other = inside.replace("crm.find", "crm.add");
    let shop = Shop::open(&[("crm.add", &other), ("crm.find", &inside)], &[], &[]).await;
    assert!(shop.app.tools().catalog().get("crm.find").is_some());
}

#[tokio::test]
async fn configuration_of_a_tool_takes_the_keys_of_its_kind_alone() {
    for (text, key) in [(HTTP, "write"), (SQL, "network"), (COMMAND, "allow_hosts")] {
        let settings = [(&*format!("tools.t.{key}"), "true")];
        let Err(error) = Shop::try_open(&[("t", text)], &settings, &[]).await else {
            panic!("{key} was taken")
        };
        assert_eq!(error.code().as_str(), "config_unknown_key", "{error}");
        assert!(error.message().contains(&format!("`{key}`")), "{error}");
    }
    let Err(error) = Shop::try_open(&[("t", HTTP)], &[("tools.u.rate", "\"1/s\"")], &[]).await else {
        panic!("settings of no tool were taken")
    };
    assert!(error.help().contains("call_agent, t"), "{}", error.help());
    let shop =
        Shop::open(&[("t", HTTP)], &[("tools.t.rate", "\"7/h\""), ("tools.t.timeout", "\"3s\"")], &[]).await;
    assert_eq!(shop.app.tools().catalog().get("t").unwrap().rate.to_string(), "7/h");
    let shop = Shop::open(&[("t", HTTP)], &[("tools.t.enabled", "false")], &[]).await;
    assert!(shop.app.tools().catalog().get("t").is_none());
}

#[tokio::test]
async fn secrets_and_the_folder_are_checked() {
    for (settings, part) in [
        (("secrets.key", "{}"), "neither `env` nor `file`"),
        (("secrets.key", "{ env = \"A\", file = \"b\" }"), "both `env` and `file`"),
        (("secrets.key", "{ value = \"plain\" }"), "unknown field `value`"),
        (("tools_dir", "\"elsewhere\""), "a folder that is there"),
    ] {
        let Err(error) = Shop::try_open(&[], &[settings], &[]).await else {
            panic!("{settings:?} was taken")
        };
        assert!(error.message().contains(part), "{error}");
    }
    let text = HTTP.replace("[settings]\n", "[settings]\nauth = { bearer = \"key\" }\n");
    let others = [("secrets.key.env", "\"KEY\""), ("secrets.key.tools", "[\"other\"]")];
    let shop = Shop::open(&[("t", &text)], &others, &[("KEY", "s3cret-value")]).await;
    let failure = shop.call("t", serde_json::json!({"a": "x"})).await.unwrap_err();
    assert_eq!(failure.code, "tool_not_configured");
    assert!(failure.message.contains("secrets.key.tools"), "{}", failure.message);
}

/// A plan's own `run` hides whatever else has that name, also a group of tools.
#[tokio::test]
async fn no_tool_is_called_run() {
    for name in ["run", "run.things"] {
        let text = HTTP.replace("name = \"t\"", &format!("name = \"{name}\""));
        let said = refusal(&text).await;
        assert!(said.contains("`run`"), "{name}: {said}");
    }
    let folder = crate::cli::Folder::new();
    for name in ["run", "run.things"] {
        let refused = folder.run(&["tools", "new", name, "--kind", "http"]).exits(2);
        assert!(refused.err.contains("`run` is the function that plans define already"), "{refused}");
    }
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    folder.write("luaplan.toml", "[mcp.run]\ncommand = [\"true\"]\n");
    let refused = folder.run(&["config", "validate"]).exits(2);
    assert!(refused.err.contains("mcp.run") && refused.err.contains("something else"), "{refused}");
    // What a document calls so gets another name.
    let document = "{\"openapi\": \"3.1.0\", \"servers\": [{\"url\": \"https://a.example.com\"}], \"paths\": {\"/r\": \
        {\"post\": {\"operationId\": \"run\", \"responses\": {\"200\": {\"description\": \"ok\"}}}}}}";
    folder.write("luaplan.toml", "");
    folder.write("api.json", document);
    folder.run(&["tools", "import", "api.json", "--operations", "run"]).exits(0);
    folder.run(&["tools", "check"]).exits(0);
    assert!(folder.read("luaplan-tools/run_.toml").contains("name = \"run_\""));
}
