//! Layers, sources and refusals, on real files in a temporary folder.

use luaplan_base::ErrorCode;

use super::*;

fn environment(variables: &[(&str, &str)], folder: &std::path::Path) -> Environment {
    Environment {
        variables: variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        working_dir: folder.to_path_buf(),
        user_config_file: Some(folder.join("user.toml")),
        ..Environment::default()
    }
}

fn source_of(loaded: &Loaded, key: &str) -> String {
    loaded.values.iter().find(|value| value.key == key).map(|value| value.source.to_string()).unwrap()
}

#[test]
fn flags_name_tools_with_a_dot_in_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let flags = |key: &str| LoadOptions { file: None, flags: vec![(key.into(), "1/h".into())] };
    let of = |key: &str| load(&environment(&[], folder.path()), &flags(key));
    let tools = of("tools.\"files.read\".rate").unwrap().raw.tools;
    assert_eq!(tools["files.read"]["rate"].as_str(), Some("1/h"));
    for broken in ["tools.\"files.read.rate", "a = 1\nb", "", "llm."] {
        assert!(of(broken).is_err(), "{broken}");
    }
}

#[test]
fn each_layer_wins_over_the_ones_below_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("user.toml"),
        "data_dir = \"user\"\n[limits]\nprofile = \"strict\"\n[server]\nlisten = \"127.0.0.1:1\"\nbody_limit = \"1MiB\"",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("luaplan.toml"),
        "data_dir = \"project\"\n[server]\nlisten = \"127.0.0.1:2\"",
    )
    .unwrap();
    let variables = [("LUAPLAN_SERVER__LISTEN", "127.0.0.1:3"), ("LUAPLAN_PLANNER__REPAIR_ROUNDS", "5")];
    let options = LoadOptions { file: None, flags: vec![("limits.profile".into(), "generous".into())] };
    let loaded = load(&environment(&variables, folder.path()), &options).unwrap();
    assert_eq!(loaded.raw.data_dir, "project");
    assert_eq!(loaded.raw.server.listen, "127.0.0.1:3");
    assert_eq!(loaded.raw.server.body_limit, "1MiB");
    assert_eq!(loaded.raw.planner.repair_rounds, 5);
    assert_eq!(loaded.raw.limits.profile, "generous");
    assert!(source_of(&loaded, "data_dir").ends_with("luaplan.toml:1"));
    assert!(source_of(&loaded, "server.body_limit").ends_with("user.toml:6"));
    assert_eq!(source_of(&loaded, "server.listen"), "$LUAPLAN_SERVER__LISTEN");
    assert_eq!(source_of(&loaded, "limits.profile"), "flag");
    assert_eq!(source_of(&loaded, "store"), "default");
    assert_eq!(loaded.files.len(), 2);
}

#[test]
fn an_unknown_key_is_refused_with_file_line_and_the_known_keys() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("luaplan.toml"), "store = \"sqlite\"\n\n[server]\nlisen = \"x\"\n")
        .unwrap();
    let error = load(&environment(&[], folder.path()), &LoadOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigUnknownKey);
    assert!(error.message().contains("line 4"), "{error}");
    assert!(error.message().contains("`listen`"), "{error}");
}

#[test]
fn an_unknown_variable_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("LUAPLAN_SERVER__LISEN", "x"), ("LUAPLAN_TEST_POSTGRES_URL", "ignored")];
    let error = load(&environment(&variables, folder.path()), &LoadOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigUnknownKey);
    assert!(error.message().contains("LUAPLAN_SERVER__LISEN"), "{error}");
}

#[test]
fn a_named_file_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let options = LoadOptions { file: Some("absent.toml".into()), flags: Vec::new() };
    let error = load(&environment(&[], folder.path()), &options).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigUnreadable);
}

#[test]
fn broken_toml_names_its_line() {
    let error = validate_text("data_dir = \"x\"\nstore = = 1", "luaplan.toml").unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigInvalid);
    assert!(error.message().contains("luaplan.toml, line 2"), "{error}");
}

#[test]
fn a_variable_that_is_not_unicode_is_refused_and_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut environment = environment(&[], folder.path());
    environment.unreadable = vec!["OTHER".to_owned(), "LUAPLAN_TEST_X".to_owned()];
    assert!(load(&environment, &LoadOptions::default()).is_ok());
    environment.unreadable.push("LUAPLAN_LIMITS__MEMORY".to_owned());
    let error = load(&environment, &LoadOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigInvalid);
    assert!(error.message().contains("LUAPLAN_LIMITS__MEMORY"), "{error}");
}
