//! Tools of the kind `command`: real processes under bubblewrap.

use std::path::{Path, PathBuf};

use luaplan::base::Value;
use luaplan::tools::command::try_bubblewrap;
use serde_json::json;

use super::{Shop, manifest};
use crate::support::Part;

const PARAMS: &str = "{ x = { type = [\"string\", \"array\"] }, text = { type = \"string\" } }";

/// The program, where it can work here.
async fn has_walls(what: &str) -> bool {
    let Some(program) = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].iter().map(Path::new).find(|p| p.exists())
    else {
        Part::Bubblewrap.is_absent(what, "bubblewrap is not installed");
        return false;
    };
    match try_bubblewrap(program).await {
        Ok(()) => true,
        Err(why) => {
            Part::Bubblewrap.is_absent(what, &format!("bubblewrap cannot work here: {why}"));
            false
        }
    }
}

async fn shop(settings: &str, granted: &[(&str, &str)]) -> Shop {
    Shop::open(&[("t", &manifest("t", "command", "read", PARAMS, settings))], granted, &[]).await
}

/// A shell as the program: the tests' own script, with what it finds inside.
fn script(lines: &str) -> String {
    format!("[settings]\nargv = [\"sh\", \"-c\", '''{lines}''', \"sh\", \"--\", \"{{x}}\"]")
}

#[tokio::test]
async fn words_input_and_output_go_as_the_manifest_says() {
    if !has_walls("commands").await {
        return;
    }
    let counted = shop("[settings]\nargv = [\"wc\", \"-c\"]\nstdin = \"text\"", &[]).await;
    assert_eq!(counted.call("t", json!({"text": "grüße"})).await.unwrap(), Value::from("7\n"));
    let printed = shop("[settings]\nargv = [\"printf\", \"%s|\", \"a {x}\", \"{text}\"]", &[]).await;
    let hostile = "$(id); `id` && rm -rf / | x > y";
    let answer = printed.call("t", json!({"x": hostile})).await.unwrap();
    assert_eq!(answer, Value::from(format!("a {hostile}|")));
    let option = printed.call("t", json!({"x": "1", "text": "-v"})).await.unwrap_err();
    assert_eq!(option.code, "bad_arguments");
    let lines = shop("[settings]\nargv = [\"printf\", '%s\\n', \"{x}\"]\noutput = \"lines\"", &[]).await;
    assert_eq!(lines.call("t", json!({"x": ["a b", "c"]})).await.unwrap().to_json(), json!(["a b", "c"]));
    let json_out = shop("[settings]\nargv = [\"cat\"]\nstdin = \"text\"\noutput = \"json\"", &[]).await;
    assert_eq!(
        json_out.call("t", json!({"text": "{\"a\": [1, null]}"})).await.unwrap().to_json(),
        json!({"a": [1, null]})
    );
    assert_eq!(json_out.call("t", json!({"text": "no"})).await.unwrap_err().code, "response_invalid");
}

#[tokio::test]
async fn a_failing_command_is_a_failure_with_its_status_and_last_words() {
    if !has_walls("failing commands").await {
        return;
    }
    let failing = shop(&script("echo out; echo worse >&2; exit 3"), &[]).await;
    let failure = failing.call("t", json!({})).await.unwrap_err();
    assert_eq!(failure.code, "command_failed");
    assert_eq!(failure.details["exit_code"], Value::Integer(3));
    assert_eq!(
        (failure.details["stderr"].clone(), failure.details["stdout"].clone()),
        ("worse".into(), "out\n".into())
    );
    let full =
        shop(&format!("{}\noutput = \"full\"\nsuccess = [0, 3]", script("echo worse >&2; exit 3")), &[])
            .await;
    assert_eq!(
        full.call("t", json!({})).await.unwrap().to_json(),
        json!({"exit_code": 3, "stdout": "", "stderr": "worse"})
    );
    let absent = shop("[settings]\nargv = [\"no-such-program\"]", &[]).await;
    let failure = absent.call("t", json!({})).await.unwrap_err();
    assert_eq!(failure.code, "command_failed");
    assert!(failure.message.contains("no-such-program"), "{}", failure.message);
    let endless = shop("[settings]\nargv = [\"yes\"]", &[("tools.t.stdout_max", "\"16KiB\"")]).await;
    assert_eq!(endless.call("t", json!({})).await.unwrap_err().code, "result_too_large");
}

#[tokio::test]
async fn inside_there_is_no_network_no_home_no_other_process_and_no_environment() {
    if !has_walls("walls of commands").await {
        return;
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let looks = format!(
        "env | sort; ls -A /root /home /tmp /var 2>/dev/null | head -5; ls -d /proc/[0-9]* | wc -l; \
         touch /usr/x /etc/x 2>/dev/null && echo written; \
         (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo connected; true"
    );
    let inside = |granted: &'static [(&'static str, &'static str)]| {
        let settings = script(&looks).replace("\"sh\", \"-c\"", "\"bash\", \"-c\"");
        async move { shop(&settings, granted).await.call("t", json!({})).await.unwrap() }
    };
    let seen = inside(&[]).await;
    let seen = seen.as_str().unwrap();
    let variables: Vec<&str> =
        seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert_eq!(variables, ["LANG", "PATH", "PWD", "SHLVL", "_"], "{seen}");
    assert!(!seen.contains("connected") && !seen.contains("written"), "{seen}");
    let processes: u32 = seen.lines().filter_map(|line| line.trim().parse().ok()).next().unwrap();
    assert!(processes <= 8, "{seen}");
    let seen = inside(&[("tools.t.network", "true")]).await;
    assert!(seen.as_str().unwrap().contains("connected"), "a granted network: {seen:?}");
}

/// Values are written back as they were read, so that nothing changes where a wall is missing.
#[tokio::test]
async fn a_command_steers_no_kernel_and_is_root_only_where_that_is_granted() {
    if !has_walls("the kernel and commands").await {
        return;
    }
    let lines = "id -u; for place in kernel/hostname kernel/printk vm/swappiness vm/overcommit_memory; do \
        value=$(cat /proc/sys/$place); echo \"$value\" > /proc/sys/$place && echo written $place; done 2>/dev/null; \
        find /proc/sys /proc/irq /proc/bus /proc/fs /proc/sysrq-trigger -writable -type f 2>/dev/null | head -3; \
        id -G; true";
    let root = nix::unistd::geteuid().is_root();
    let user = |granted: bool| if root && !granted { 65_534 } else { nix::unistd::geteuid().as_raw() };
    for (granted, setting) in [(false, "false"), (true, "true")] {
        let seen =
            shop(&script(lines), &[("tools.t.as_root", setting)]).await.call("t", json!({})).await.unwrap();
        let seen = seen.as_str().unwrap().to_owned();
        let lines: Vec<&str> = seen.lines().collect();
        assert_eq!(lines[0], user(granted).to_string(), "{seen}");
        assert_eq!(lines.len(), 2, "the kernel can be written: {seen}");
    }
    let settings = [("tools.t.unconfined", "true"), ("tools.t.as_root", "false")];
    let seen = shop(&script("id -u; id -G"), &settings).await.call("t", json!({})).await.unwrap();
    if root {
        assert_eq!(seen, Value::from("65534\n65534\n"), "also without walls");
    }
}

#[tokio::test]
async fn folders_are_seen_and_written_only_as_granted() {
    if !has_walls("folders of commands").await {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/a.txt"), "here").unwrap();
    let place = format!("[\"{}\"]", folder.path().join("data").display());
    let dir = folder.path().join("data");
    let settings = |lines: &str| format!("{}\nworking_dir = \"{}\"", script(lines), dir.display());
    let ungranted = shop(&settings("cat a.txt"), &[]).await;
    let failure = ungranted.call("t", json!({})).await.unwrap_err();
    assert_eq!(failure.code, "tool_not_configured");
    assert!(failure.message.contains("[tools.t]"), "{}", failure.message);
    // The folder belongs to whom the tests run as, root perhaps.
    let own = ("tools.t.as_root", "true");
    let reading = shop(
        &settings("cat a.txt; touch b.txt 2>/dev/null || echo ' read-only'"),
        &[("tools.t.read", &place), own],
    )
    .await;
    assert_eq!(reading.call("t", json!({})).await.unwrap(), Value::from("here read-only\n"));
    let writing = shop(&settings("echo new > b.txt"), &[("tools.t.write", &place), own]).await;
    writing.call("t", json!({})).await.unwrap();
    assert_eq!(std::fs::read_to_string(dir.join("b.txt")).unwrap(), "new\n");
}

#[tokio::test]
async fn no_descriptor_of_this_process_reaches_a_command() {
    use std::os::fd::AsRawFd as _;
    if !has_walls("descriptors of commands").await {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A copy is handed on to children, as what a launcher left open is.
    let left_open = nix::unistd::dup(std::fs::File::open(folder.path()).unwrap()).unwrap();
    let number = left_open.as_raw_fd();
    let lines = format!("if [ -e /proc/self/fd/{number} ]; then echo reached; else echo closed; fi");
    let answer = shop(&script(&lines), &[]).await.call("t", json!({})).await.unwrap();
    assert_eq!(answer, Value::from("closed\n"));
}

/// Processes whose command line holds `mark`.
fn alive(mark: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    processes
        .filter(|process| {
            std::fs::read(process.join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
        })
        .collect()
}

async fn all_gone(mark: &str) {
    for _ in 0..200 {
        if alive(mark).is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("still there: {:?}", alive(mark));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_tree_ends_at_the_deadline_and_when_the_run_is_cancelled() {
    if !has_walls("ends of commands").await {
        return;
    }
    for (mark, unconfined) in [("7771.0101", false), ("7772.0202", true)] {
        let lines = format!("setsid sleep {mark} & sleep {mark} & sleep {mark}");
        // A process that leaves its group is held by the namespace alone.
        let lines = if unconfined { lines.replace("setsid ", "") } else { lines };
        let granted: &[(&str, &str)] = if unconfined { &[("tools.t.unconfined", "true")] } else { &[] };
        let settings = [granted, &[("tools.t.timeout", "\"1s\"")]].concat();
        let shop = shop(&script(&lines), &settings).await;
        let plan = "function run(context)\n  local answer = t{}\n  return {code = answer.code}\nend";
        let outcome = shop.run(plan).await;
        assert_eq!(outcome.result.unwrap().to_json(), json!({"code": "tool_timeout"}));
        all_gone(mark).await;
    }
    let mark = "7773.0303";
    let shop = shop(&script(&format!("sleep {mark} & sleep {mark}")), &[]).await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let run = shop.app.run(luaplan::app::RunSpec {
        cancel: cancel.clone(),
        ..luaplan::app::RunSpec::new(
            luaplan::app::Work::Plan {
                name: "plan".into(),
                source: "function run(context)\n  return t{}\nend".into(),
            },
            shop.app.config().limits.clone(),
        )
    });
    let stop = async {
        while alive(mark).is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run, stop);
    assert_eq!(outcome.error().unwrap().code().as_str(), "cancelled");
    all_gone(mark).await;
}

#[tokio::test]
async fn a_secret_is_in_the_environment_and_nowhere_else() {
    if !has_walls("secrets of commands").await {
        return;
    }
    let settings = format!(
        "{}\nenvironment = {{ TOKEN = {{ secret = \"key\" }}, MODE = \"fast\" }}",
        script(
            "echo \"$TOKEN $MODE\"; tr '\\\\0' ' ' < /proc/1/cmdline | grep -c s3cre[t]; test ${{#TOKEN}} = 12"
        )
    );
    let text = manifest("t", "command", "read", PARAMS, &settings.replace("\\\\0", "\\0"));
    let configuration = [("secrets.key.file", "\"key.txt\"")];
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key.txt"), "s3cret-value\n").unwrap();
    let shop = Shop::open_in(folder, &[("t", &text)], &configuration, &[]).await.unwrap();
    let seen = shop.call("t", json!({})).await;
    let seen = format!("{seen:?}");
    assert!(!seen.contains("s3cret") && seen.contains("fast"), "{seen}");
    assert!(seen.contains("fast\\n0\\n"), "the secret is no argument of bubblewrap: {seen}");
}

#[tokio::test]
async fn without_bubblewrap_commands_are_refused_with_what_to_do() {
    let text = manifest("t", "command", "read", PARAMS, "[settings]\nargv = [\"echo\", \"hello\"]");
    let nowhere = [("PATH", "/nonexistent")];
    let shop = Shop::open(&[("t", &text)], &[], &nowhere).await;
    let failure = shop.call("t", json!({})).await.unwrap_err();
    assert_eq!(failure.code, "confinement_missing");
    assert!(failure.message.contains("unconfined = true"), "{}", failure.message);
    assert!(shop.app.tools().usable().get("t").is_none());
    let shop = Shop::open(&[("t", &text)], &[("tools.t.unconfined", "true")], &nowhere).await;
    assert_eq!(shop.call("t", json!({})).await.unwrap(), Value::from("hello\n"));
}
