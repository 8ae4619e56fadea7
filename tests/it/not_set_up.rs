//! Configuration that cannot work: found by `doctor` and `config validate`, reported before an approver is asked.

use crate::cli::Folder;

const KEY: &str = "a-key-that-is-long-enough-to-use";

const TICKET: &str = "name = \"ticket\"\ndescription = \"Looks a ticket up.\"\nkind = \"http\"\neffect = \"read\"\n[params]\ntype = \"object\"\nproperties = { id = { type = \"string\" } }\nrequired = [\"id\"]\n[settings]\nurl = \"https://api.example.com/{id}\"\nauth = { bearer = \"crm\" }\n";

const ADD: &str = "name = \"add_stock\"\ndescription = \"Adds to the stock.\"\nkind = \"sql\"\neffect = \"write\"\n[params]\ntype = \"object\"\nproperties = { amount = { type = \"integer\" } }\nrequired = [\"amount\"]\n[settings]\nsql = \"INSERT INTO stock (amount) VALUES (:amount)\"\n";

const ASKS: &str = "version = 1\n";

const MAIL: &str = "[tools.send_email]\nsmtp = \"smtp://127.0.0.1:1\"\nfrom = \"a@b.example\"\nallow_recipients = [\"*@b.example\"]\n";

/// A folder whose policy file and key file are configured, private to its user.
fn folder(configuration: &str, policy: &str, keys: &str) -> Folder {
    let head = "[policy]\nfile = \"policy.toml\"\n[server]\napi_keys_file = \"keys.txt\"\n";
    Folder::with(&[
        ("luaplan.toml", &format!("{head}{configuration}")),
        ("policy.toml", policy),
        ("keys.txt", keys),
        ("luaplan-tools/ticket.toml", TICKET),
        ("luaplan-tools/add_stock.toml", ADD),
    ])
}

fn one_key() -> String {
    format!("ops {KEY}\n")
}

#[test]
fn two_names_for_one_key_are_refused() {
    let keys = format!("# sales\na {KEY} tenant=sales\n\nb {KEY} tenant=hr scopes=admin\n");
    let folder = folder("", ASKS, &keys);
    let doctor = folder.run(&["doctor"]).exits(2);
    for ended in [
        folder.run(&["serve", "--listen", "127.0.0.1:0"]).fails(2, "config_invalid"),
        folder.run(&["config", "validate"]).fails(2, "config_invalid"),
    ] {
        let told = "keys.txt, line 4: `b` has the same key as the one on line 2";
        assert!(ended.err.contains(told) && !ended.err.contains(KEY), "{ended}");
        assert!(doctor.out.contains(told) && !doctor.out.contains(KEY), "{doctor}");
    }
}

#[test]
fn what_serve_refuses_doctor_and_validate_refuse() {
    let rule = "version = 1\n[[rule]]\nname = \"large\"\ntool = \"add_stock\"\ndecision = \"deny\"\nreason = \"too much\"\narguments.items = \"9*\"\n";
    let wrong_rule = folder("", rule, &one_key());
    let place = "policy.toml, line 7: rule `large`: no tool it is about has the parameter `items`";
    wrong_rule.write("plan.lua", "function run(context) return 1 end");
    for words in [&["config", "validate"][..], &["policy", "check"], &["run", "plan.lua"]] {
        let refused = wrong_rule.run(words).fails(2, "config_invalid");
        assert!(refused.err.contains(place), "{words:?}: {refused}");
    }
    let doctor = wrong_rule.run(&["doctor"]).exits(1);
    assert!(doctor.out.contains("FAIL  policy") && doctor.out.contains(place), "{doctor}");

    let wrong_key = folder("", ASKS, &format!("a {KEY} tenants=x\n"));
    let place = "keys.txt, line 1: `tenants=x` is neither `tenant=NAME` nor `scopes=A,B`";
    let refused = wrong_key.run(&["config", "validate"]).fails(2, "config_invalid");
    assert!(refused.err.contains(place), "{refused}");
    let doctor = wrong_key.run(&["doctor"]).exits(2);
    assert!(doctor.out.contains("warn  server") && doctor.out.contains(place), "{doctor}");
    assert!(doctor.out.contains("ok    policy"), "{doctor}");
}

#[test]
fn approvers_that_no_key_has_are_warned_of() {
    let folder = folder("", "version = 1\napprovers = [\"opps\", \"local\"]\n", &one_key());
    let told = "approvers: no API key is named `opps`; did you mean `ops`?";
    let checked = folder.run(&["policy", "check"]).exits(0);
    assert!(checked.out.contains(told) && !checked.out.contains("`local`"), "{checked}");
    let doctor = folder.run(&["doctor"]).exits(2);
    assert!(doctor.out.contains("warn  policy") && doctor.out.contains(told), "{doctor}");
}

#[test]
fn a_tool_that_is_not_set_up_is_marked_wherever_it_is_named() {
    let folder = folder("[secrets.crm]\nenv = \"CRM_KEY\"\ntools = [\"ticket\"]\n", ASKS, &one_key());
    let missing = "the secret `crm` is taken from $CRM_KEY, which is not set";
    folder.write("plan.lua", "function run(context) return ticket(\"7\") end");
    let doctor = folder.run(&["doctor"]).exits(2);
    let line = doctor.out.lines().find(|line| line.contains("tool ticket")).unwrap();
    assert!(line.starts_with("warn") && line.contains(missing), "{doctor}");
    for words in
        [&["tools", "show", "ticket"][..], &["explain", "plan.lua"], &["run", "plan.lua", "--dry-run"]]
    {
        let shown = folder.run(words).exits(0);
        assert!(
            shown.out.replace("Not set", "not set").contains(&format!("not set up: {missing}")),
            "{words:?}: {shown}"
        );
    }
    assert!(folder.run(&["tools"]).exits(0).out.contains("(not set up) Looks a"));
    let listed = folder.run(&["tools", "--json"]).exits(0).json();
    let lacking = |name: &str| {
        let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        tool.get("not_set_up").and_then(|missing| missing.as_str()).unwrap_or_default().to_owned()
    };
    assert!(lacking("ticket").contains(missing) && lacking("transform_data").is_empty());
    let explained = folder.run(&["explain", "plan.lua", "--json"]).exits(0).json();
    let seen = explained["preview"]["calls"][0]["not_set_up"].as_str().unwrap();
    assert!(seen.contains(missing), "{explained:#}");
    let set = [("CRM_KEY", "a secret of the customers")];
    assert!(!folder.run_with(&set, &["explain", "plan.lua"]).exits(0).out.contains("not set up"));
}

#[test]
fn a_check_advises_once_of_each_tool_that_is_not_set_up() {
    let folder = Folder::new();
    let plan = "function run(context)\n  local one = send_email(\"a@b.example\", \"s\", \"x\")\n  local two = send_email(\"a@b.example\", \"s\", \"x\")\n  return { one.error, two.error, call_llm(\"hello\").error }\nend";
    folder.write("plan.lua", plan);
    for words in [&["check", "plan.lua", "--json"][..], &["explain", "plan.lua", "--json"]] {
        let found = folder.run(words).exits(0).json();
        assert_eq!(found["ok"], true, "{found:#}");
        let advice: Vec<(i64, &str)> = (found["findings"].as_array().unwrap().iter())
            .filter(|finding| finding["code"] == "plan_tool_not_set_up" && finding["severity"] == "warning")
            .map(|finding| (finding["line"].as_i64().unwrap(), finding["message"].as_str().unwrap()))
            .collect();
        let [(2, mail), (4, model)] = advice.as_slice() else { panic!("{advice:?}") };
        assert!(mail.contains("`send_email` is not set up: ") && mail.contains("smtp"), "{mail}");
        assert!(model.contains("`call_llm` is not set up: "), "{model}");
    }
    let ended = folder.run(&["check", "plan.lua"]).exits(0);
    assert!(ended.out.contains("0 errors") && ended.out.contains("plan_tool_not_set_up"), "{ended}");
    let set_up = Folder::with(&[("luaplan.toml", MAIL), ("plan.lua", plan)]);
    let found = set_up.run(&["check", "plan.lua", "--json"]).exits(0).out;
    assert!(
        !found.contains("`send_email` is not set up") && found.contains("`call_llm` is not set up"),
        "{found}"
    );
}

#[test]
fn nobody_is_asked_about_a_call_that_cannot_be_made() {
    let folder = folder(MAIL, ASKS, &one_key());
    folder.write(
        "add.lua",
        "function run(context) local added = add_stock(3) return added.error and added.code end",
    );
    let ended = folder.run(&["run", "add.lua"]).exits(0);
    assert!(ended.out.contains("tool_not_configured"), "{ended}");
    folder.write(
        "mail.lua",
        "function run(context) local sent = send_email(context.to, \"hello\", \"x\") return sent.error and sent.code end",
    );
    let ended = folder.run(&["run", "mail.lua", "--context", "{\"to\": \"b@evil.example\"}"]).exits(0);
    assert!(ended.out.contains("recipient_denied"), "{ended}");

    folder.run(&["run", "mail.lua", "--context", "{\"to\": \"b@b.example\"}"]).fails(5, "approval_required");
    let edit = ["approve", "last", "1", "--argument", "to=b@evil.example", "--yes"];
    let refused = folder.run(&edit);
    assert!(refused.code != 0 && refused.err.contains("error[recipient_denied]"), "{refused}");
    assert!(folder.run(&["approve"]).exits(0).out.contains("b@b.example"), "the call waits as before");
}

#[test]
fn a_mail_password_that_is_not_set_hinders_mail_alone() {
    let login = "username = \"u\"\npassword_env = \"NO_SUCH_PASSWORD\"\n";
    let folder = folder(&format!("{MAIL}{login}"), "version = 1\n[defaults]\nsend = \"auto\"\n", &one_key());
    let plan = "function run(context) local sent = send_email(\"b@b.example\", \"s\", \"x\") return { sent.code, sent.error } end";
    folder.write("plan.lua", plan);
    let ended = folder.run(&["run", "plan.lua"]).exits(0);
    assert!(ended.out.contains("tool_not_configured") && ended.out.contains("$NO_SUCH_PASSWORD"), "{ended}");
    let doctor = folder.run(&["doctor"]).exits(2);
    let line = doctor.out.lines().find(|line| line.starts_with("warn  mail")).unwrap();
    assert!(line.contains("password_env names $NO_SUCH_PASSWORD, which is not set"), "{doctor}");
}

#[test]
fn a_parameter_of_a_command_without_a_place_is_warned_of() {
    let manifest = "name = \"count\"\ndescription = \"Counts.\"\nkind = \"command\"\neffect = \"read\"\n[params]\ntype = \"object\"\nproperties = { text = { type = \"string\" }, file = { type = \"string\" } }\n[settings]\nargv = [\"wc\"]\nstdin = \"text\"\n";
    let folder = Folder::with(&[("luaplan-tools/count.toml", manifest)]);
    let checked = folder.run(&["tools", "check"]).exits(0);
    assert!(
        checked.out.contains("warning: luaplan-tools/count.toml: the parameter `file` has no place"),
        "{checked}"
    );
    assert!(!checked.out.contains("`text`"), "{checked}");
    let json = folder.run(&["tools", "check", "--json"]).exits(0).json();
    assert_eq!(json["manifests"][0]["warnings"].as_array().map(Vec::len), Some(1));
}
