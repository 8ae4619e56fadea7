//! Commands, options and configuration keys are documented, each in its own section.

use std::collections::BTreeSet;

use clap::{Arg, Command, CommandFactory as _};
use luaplan::app::config::{OVERRIDE_KEYS, RawAgent, RawConfig, RawMcpOAuth, RawMcpServer, RawSecret};
use luaplan::base::{LimitName, LimitProfile};
use luaplan::catalog::builtin_manifests;
use luaplan::cli::Cli;
use luaplan::llm::LlmSettings;
use luaplan::tools::fetch_url::FetchUrlSettings;
use luaplan::tools::query_db::QueryDbSettings;
use luaplan::tools::send_email::SendEmailSettings;
use luaplan::tools::transform_data::TransformDataSettings;
use serde::de::DeserializeOwned;

fn document(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The text below the heading `title`, up to the next heading of the same level.
fn section<'a>(text: &'a str, title: &str) -> Option<&'a str> {
    let begin = text.find(&format!("\n## {title}\n"))? + 1;
    let rest = &text[begin..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..end]))
}

fn undocumented_options(command: &Command, section: &str) -> Vec<String> {
    let is_of_all = |argument: &Arg| argument.get_help_heading() == Some("Options of every command");
    let own = command.get_arguments().filter(|argument| !is_of_all(argument) && !argument.is_hide_set());
    let options =
        own.filter_map(|argument| argument.get_long()).filter(|long| !["help", "version"].contains(long));
    let missing = options.filter(|long| {
        let option = format!("`--{long}");
        !section
            .match_indices(&option)
            .any(|(at, _)| section[at + option.len()..].starts_with([' ', '`', ',']))
    });
    missing.map(|long| format!("{} --{long}", command.get_name())).collect()
}

#[test]
fn every_command_and_option_is_in_the_page_of_the_command_line() {
    let page = document("cli.md");
    let cli = Cli::command();
    let mut missing = undocumented_options(&cli, section(&page, "Options of every command").unwrap());
    for global in cli.get_arguments().filter_map(|argument| argument.get_long()) {
        if !page.contains(&format!("`--{global}")) {
            missing.push(format!("--{global}"));
        }
    }
    for command in cli.get_subcommands() {
        let Some(section) = section(&page, command.get_name()) else {
            missing.push(command.get_name().to_owned());
            continue;
        };
        missing.extend(undocumented_options(command, section));
        for sub in command.get_subcommands() {
            if !section.contains(sub.get_name()) {
                missing.push(format!("{} {}", command.get_name(), sub.get_name()));
            }
            missing.extend(undocumented_options(sub, section));
        }
    }
    assert!(missing.is_empty(), "not in docs/cli.md: {missing:?}");
}

#[test]
fn the_exit_codes_of_the_page_are_those_of_the_help() {
    let page = document("cli.md");
    let table = section(&page, "Exit codes").unwrap();
    for code in ["0", "1", "2", "3", "4", "5", "6", "130"] {
        assert!(table.contains(&format!("\n| {code} | ")), "exit code {code}");
    }
}

/// The keys a type takes, as it tells itself when it is given one it does not know.
fn keys_of<T: DeserializeOwned>(needed: &str) -> BTreeSet<String> {
    let table: toml::Table = toml::from_str(&format!("{needed}\nno_such_key = 1")).unwrap();
    let Err(error) = table.try_into::<T>() else { panic!("an unknown key was taken") };
    let names = error.message().split('`').skip(1).step_by(2);
    let keys: BTreeSet<String> = names.filter(|name| *name != "no_such_key").map(str::to_owned).collect();
    assert!(!keys.is_empty(), "{error}");
    keys
}

/// The keys of a table and of the tables in it, by path.
fn paths(table: &toml::Table, prefix: &str, found: &mut BTreeSet<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => paths(inner, &path, found),
            _ => drop(found.insert(path)),
        }
    }
}

fn all_keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    paths(&toml::Table::try_from(RawConfig::default()).unwrap(), "", &mut keys);
    keys.extend(LimitName::ALL.iter().map(|name| format!("limits.{name}")));
    keys.extend(OVERRIDE_KEYS.iter().map(|key| format!("tools.NAME.{key}")));
    let mut add = |prefix: &str, names: BTreeSet<String>| {
        keys.extend(names.into_iter().map(|name| format!("{prefix}.{name}")));
    };
    add("secrets.NAME", keys_of::<RawSecret>(""));
    add("llm", keys_of::<LlmSettings>(""));
    add("agents.NAME", keys_of::<RawAgent>("plan = \"p\"\ntask = \"t\""));
    add("mcp.NAME", keys_of::<RawMcpServer>("").into_iter().filter(|key| key != "oauth").collect());
    add("mcp.NAME.oauth", keys_of::<RawMcpOAuth>(""));
    add("tools.query_db", keys_of::<QueryDbSettings>(""));
    add("tools.fetch_url", keys_of::<FetchUrlSettings>(""));
    add("tools.send_email", keys_of::<SendEmailSettings>("smtp = \"\"\nfrom = \"\""));
    add("tools.transform_data", keys_of::<TransformDataSettings>(""));
    keys
}

#[test]
fn every_key_is_in_the_page_of_the_configuration_and_no_other() {
    let page = document("configuration.md");
    let keys = all_keys();
    let documented: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|key| key.contains('.') || ["agent_depth", "data_dir", "store", "tools_dir"].contains(key))
        .map(str::to_owned)
        .collect();
    let missing: Vec<&String> = keys.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/configuration.md: {missing:?}");
    let stale: Vec<&String> = documented.difference(&keys).collect();
    assert!(stale.is_empty(), "in docs/configuration.md, but not a key: {stale:?}");
}

#[test]
fn the_defaults_of_the_page_are_the_defaults() {
    let page = document("configuration.md");
    let table = toml::Table::try_from(RawConfig::default()).unwrap();
    let mut checked = 0;
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, key, _, default, ..] = cells[..] else { continue };
        let (key, default) = (key.trim_matches('`'), default.split('`').nth(1).unwrap_or_default());
        let value = key
            .split('.')
            .try_fold(&toml::Value::Table(table.clone()), |value, part| value.get(part))
            .cloned();
        // Keys without a default of their own are said in words.
        if let (Some(value), false) = (value, default.is_empty() || key == "limits.profile") {
            assert_eq!(value.to_string(), default, "{key}");
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} defaults were found");
}

#[test]
fn the_limits_and_rates_of_the_page_are_those_in_force() {
    let page = document("configuration.md");
    for name in LimitName::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| `limits.{name}` |"))).unwrap();
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace(',', "")).collect();
        for (cell, profile) in cells[3..6].iter().zip(LimitProfile::ALL) {
            let mut limits = profile.limits();
            limits.set(name, cell).unwrap();
            assert_eq!(limits.get(name), profile.limits().get(name), "{name} of {}: {cell}", profile.name());
        }
    }
    for spec in builtin_manifests().unwrap() {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", spec.name))).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[2], spec.rate.to_string(), "{}", spec.name);
        assert_eq!(
            (cells[3], cells[4]),
            (&*spec.burst.to_string(), &*spec.concurrency.to_string()),
            "{}",
            spec.name
        );
        assert_eq!(luaplan::base::parse_duration(cells[5]).unwrap(), spec.timeout, "{}", spec.name);
    }
}
