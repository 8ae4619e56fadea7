//! The guides name everything there is: events, fields, tools, parameters, settings, plans; and what they
//! show can be run.

use std::path::PathBuf;

use clap::Parser as _;
use clap::error::ErrorKind;
use luaplan::base::LimitProfile;
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::cli::Cli;
use luaplan::plan::check;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every document for people, by path.
fn documents() -> Vec<(String, String)> {
    let mut paths = vec!["README.md".to_owned(), "LIMITATIONS.md".to_owned(), "ARCHITECTURE.md".to_owned()];
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            paths.push(format!("docs/{name}"));
        }
    }
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The part of a document under a heading, up to the next of the same level.
fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    let marks = heading.split(' ').next().unwrap();
    let start = text.find(&format!("\n{heading}\n"))? + 1;
    let rest = &text[start..];
    let end = rest.match_indices(&format!("\n{marks} ")).map(|(at, _)| at).next().unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Fenced blocks whose info string is `info`.
fn blocks<'t>(text: &'t str, info: &str) -> Vec<&'t str> {
    let opening = format!("\n```{info}\n");
    text.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// The variants of `EventBody` and their fields, from the source.
fn events() -> Vec<(String, Vec<String>)> {
    let source = read("src/journal/event.rs");
    let body = source.split("pub enum EventBody {").nth(1).unwrap().split("\nimpl").next().unwrap();
    let body: String = body
        .lines()
        .filter(|line| !["//", "#["].iter().any(|start| line.trim_start().starts_with(start)))
        .collect();
    body.split('}')
        .filter_map(|variant| variant.split_once('{'))
        .map(|(name, fields)| {
            let name = name.trim_matches([' ', ',']);
            let fields = fields.split(',').filter_map(|field| field.split_once(':'));
            (snake_case(name), fields.map(|(field, _)| field.trim().to_owned()).collect())
        })
        .collect()
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(character.to_lowercase());
    }
    text
}

#[test]
fn every_event_is_documented_with_each_of_its_fields() {
    let text = read("docs/events.md");
    let events = events();
    assert!(events.len() >= 25, "only {} events were found in the source", events.len());
    let mut missing = Vec::new();
    for (name, fields) in events {
        let Some(section) = section(&text, &format!("### {name}")) else {
            missing.push(name);
            continue;
        };
        let absent = fields.iter().filter(|field| !section.contains(&format!("`{field}`")));
        missing.extend(absent.map(|field| format!("{name}.{field}")));
    }
    assert!(missing.is_empty(), "docs/events.md lacks {missing:?}");
}

/// The public fields of the settings struct in a source file.
fn settings_keys(path: &str) -> Vec<String> {
    let source = read(path);
    let start = source.find("Settings {").unwrap();
    let body = source[start..].split("\n}").next().unwrap();
    let fields = body.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
    fields.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn every_tool_is_documented_with_each_parameter_and_setting() {
    let text = read("docs/tools.md");
    let mut missing = Vec::new();
    for spec in builtin_manifests().unwrap() {
        let Some(section) = section(&text, &format!("## {}", spec.name)) else {
            missing.push(spec.name.clone());
            continue;
        };
        let mut wanted: Vec<String> = spec.parameters().map(|(name, _)| name.to_owned()).collect();
        let settings = format!("src/tools/{}/settings.rs", spec.name);
        if root().join(&settings).exists() {
            let keys = settings_keys(&settings);
            assert!(!keys.is_empty(), "no settings were found in {settings}");
            wanted.extend(keys);
        }
        let absent = wanted.iter().filter(|name| !section.contains(&format!("\n| `{name}` |")));
        missing.extend(absent.map(|name| format!("{}.{name}", spec.name)));
        let (rate, burst, at_once) = (spec.rate, spec.burst, spec.concurrency);
        let row =
            format!("| {} | {rate} | {burst} | {at_once} |", if spec.idempotent { "yes" } else { "no" });
        let line =
            text.lines().find(|line| line.starts_with(&format!("| [`{}`]", spec.name))).unwrap_or_default();
        assert!(line.contains(&row), "docs/tools.md, {}: the row should hold {row}", spec.name);
    }
    assert!(missing.is_empty(), "docs/tools.md has no row for {missing:?}");
}

#[test]
fn every_key_of_a_manifest_and_of_the_model_is_documented() {
    let source = read("src/catalog/manifest.rs");
    let keys = source.split("const KEYS").nth(1).unwrap().split("];").next().unwrap();
    let manifest: Vec<&str> = keys.split('"').skip(1).step_by(2).collect();
    assert!(manifest.len() >= 15);
    let tools = read("docs/tools.md");
    let section = section(&tools, "## Manifests").unwrap();
    for key in manifest {
        assert!(
            section.contains(&format!("\n| `{key}` |")),
            "docs/tools.md does not explain the manifest's `{key}`"
        );
    }
    let providers = read("docs/providers.md");
    for key in settings_keys("src/llm/settings.rs") {
        assert!(
            providers.contains(&format!("\n| `{key}` |")),
            "docs/providers.md does not explain `llm.{key}`"
        );
    }
}

#[test]
fn every_example_plan_is_named_in_a_document() {
    let documents = documents();
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let folder = entry.unwrap();
        if !folder.path().join("plan.lua").exists() {
            continue;
        }
        let path = format!("examples/{}/plan.lua", folder.file_name().to_string_lossy());
        assert!(documents.iter().any(|(_, text)| text.contains(&path)), "no document names {path}");
    }
}

#[test]
fn every_test_named_in_the_table_of_failures_exists() {
    let mut missing = Vec::new();
    for line in read("docs/failures.md").lines().filter(|line| line.starts_with("| ")).skip(1) {
        let named = line.trim_end_matches([' ', '|']).rsplit('|').next().unwrap();
        for name in named.split('`').skip(1).step_by(2) {
            let path = name.replace("::", "/");
            let (module, function) = path.rsplit_once('/').unwrap_or((&path, ""));
            let is_module = |path: &str| {
                ["tests/it", "src"].iter().any(|folder| {
                    let place = root().join(folder).join(path);
                    place.is_dir() || place.with_extension("rs").is_file()
                })
            };
            let holds = |folder: &str| {
                let file = root().join(folder).join(module).with_extension("rs");
                std::fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("fn {function}()")))
            };
            if !is_module(&path) && !holds("tests/it") {
                missing.push(name.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "docs/failures.md names tests that are not there: {missing:?}");
}

#[test]
fn every_runnable_plan_in_the_documents_passes_the_check() {
    let catalog: Catalog = builtin_manifests().unwrap().into_iter().collect();
    let limits = LimitProfile::Standard.limits();
    let mut count = 0;
    for (path, text) in documents() {
        for source in blocks(&text, "lua runnable") {
            let report = check(source, "example", &catalog, &limits);
            assert!(report.findings.is_empty(), "{path}: {source}\n{:#?}", report.findings);
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} runnable plans were found");
}

#[test]
fn every_program_shown_for_embedding_is_part_of_an_example() {
    let programs: Vec<String> = std::fs::read_dir(root().join("examples/embed"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let text = read("docs/embedding.md");
    let shown = blocks(&text, "rust");
    assert!(shown.len() >= 4);
    for block in shown {
        assert!(programs.iter().any(|program| program.contains(block)), "no example holds\n{block}");
    }
}

#[test]
fn every_command_line_in_the_documents_is_understood() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for (line, is_mention) in command_lines(&text) {
            let Some(words) = words(&line) else { continue };
            count += 1;
            let Err(error) = Cli::try_parse_from(&words) else { continue };
            let is_fine = match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
                // "`luaplan run` does the same": a mention names no file.
                ErrorKind::MissingRequiredArgument => is_mention,
                // `luaplan completions SHELL`: capitals stand for one of several words.
                ErrorKind::InvalidValue | ErrorKind::InvalidSubcommand => {
                    words.iter().any(|word| word.chars().all(char::is_uppercase))
                }
                _ => false,
            };
            if !is_fine {
                wrong.push(format!("{path}: {line}\n{error}"));
            }
        }
    }
    assert!(count >= 40, "only {count} command lines were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines that call luaplan, without its name: those of blocks, and (true) those within text.
fn command_lines(text: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut in_fence = false;
    for line in text.replace("\\\n", " ").lines() {
        if line.starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence || line.starts_with("    ") {
            let bare = line.trim_start().trim_start_matches("$ ");
            let is_variable =
                |word: &str| word.split_once('=').is_some_and(|(name, _)| name.starts_with("LUAPLAN_"));
            let bare =
                bare.split_once(' ').filter(|(word, _)| is_variable(word)).map_or(bare, |(_, rest)| rest);
            let command = bare.strip_prefix("luaplan ").or_else(|| bare.strip_prefix("cargo run -- "));
            // `luaplan = …` is a line of a TOML file.
            let command = command.filter(|command| !command.starts_with("= "));
            found.extend(command.map(|command| (command.to_owned(), false)));
        } else {
            let spans = line.split('`').skip(1).step_by(2).filter_map(|span| span.strip_prefix("luaplan "));
            found.extend(spans.map(|span| (span.to_owned(), true)));
        }
    }
    found
}

/// The words a shell would pass on; `None` for a synopsis with `[…]` or `<…>`.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = vec!["luaplan".to_owned()];
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(character), true),
            (None, '[' | '<') if !begun => return None,
            (None, '|' | '>' | ';' | '&' | '#') if !begun => break,
            (None, ' ') if begun => {
                words.push(std::mem::take(&mut word));
                begun = false;
            }
            (None, ' ') => {}
            _ => {
                word.push(character);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    Some(words)
}
