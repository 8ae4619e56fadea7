//! `init` and `config init`: they write a working start and overwrite nothing.

use super::Folder;

#[test]
fn a_new_folder_passes_its_own_test_check_and_validation() {
    let folder = Folder::new();
    let ended = folder.run(&["init"]).exits(0);
    assert!(ended.out.starts_with("wrote luaplan.toml\nwrote plans/hello.lua\n"), "{ended}");
    assert_eq!(folder.names(), ["luaplan.toml", "plans"]);
    folder.run(&["config", "validate"]).exits(0);
    folder.run(&["check", "plans/hello.lua"]).exits(0);
    folder.run(&["test", "plans"]).exits(0);
    let run =
        folder.run(&["run", "plans/hello.lua", "--context", "{\"name\": \"world\"}", "--json"]).exits(0);
    assert_eq!(run.json()["result"]["greeting"], "Hello, world!");
    let nested = folder.run(&["init", "deep/er"]).exits(0);
    assert!(
        nested.out.contains("wrote deep/er/luaplan.toml") && nested.out.contains("cd deep/er"),
        "{nested}"
    );
}

#[test]
fn a_file_that_is_there_stays_and_nothing_is_half_written() {
    for taken in ["luaplan.toml", "plans/hello.lua", "plans/hello_test.lua"] {
        let folder = Folder::with(&[(taken, "mine")]);
        let before = folder.names();
        let ended = folder.run(&["init"]).fails(2, "file_exists");
        assert!(ended.err.contains(taken) && ended.out.is_empty(), "{ended}");
        assert_eq!(folder.read(taken), "mine");
        assert_eq!(folder.names(), before);
    }
    let folder = Folder::with(&[("plans", "a file")]);
    folder.run(&["init"]).fails(2, "file_unreadable");
    assert_eq!(folder.names(), ["plans"]);
    folder.run(&["init", "plans/sub", "--json"]).exits(2);
}

#[test]
fn config_init_writes_a_commented_file_once() {
    let folder = Folder::new();
    folder.run(&["config", "init"]).exits(0);
    let text = folder.read("luaplan.toml");
    assert!(text.contains("# ") && text.contains("[tools.query_db]"), "{text}");
    folder.run(&["config", "init"]).fails(2, "file_exists");
    assert_eq!(folder.read("luaplan.toml"), text);
    folder.run(&["config", "init", "other.toml"]).exits(0);
    folder.run(&["--config", "other.toml", "config", "validate"]).exits(0);
    folder.run(&["config", "init", "no/such/folder.toml"]).fails(2, "file_unreadable");
}
