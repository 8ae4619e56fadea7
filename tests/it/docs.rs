//! Documents that must say what the code says. `LUAPLAN_TEST_BLESS=1` writes the generated ones.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use luaplan::base::{ErrorCode, LimitName, LimitProfile};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn assert_document(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("LUAPLAN_TEST_BLESS").is_some() {
        std::fs::write(&file, expected).unwrap();
    }
    let actual = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(actual == expected, "{path} is out of date; run the tests once with LUAPLAN_TEST_BLESS=1");
}

#[test]
fn every_error_code_is_documented() {
    let mut text = String::from(
        "# Error codes\n\nThe same code appears in CLI output, problem+json, the journal and what the \
         planner is told. Generated from `src/base/error_codes.rs`.\n\n| code | meaning | what to do |\n|---|---|---|\n",
    );
    for code in ErrorCode::ALL {
        let (meaning, remedy) = (code.meaning().replace('|', "\\|"), code.remedy().replace('|', "\\|"));
        writeln!(text, "| `{code}` | {meaning} | {remedy} |").unwrap();
    }
    assert_document("docs/errors.md", &text);
}

#[test]
fn every_limit_and_profile_is_documented() {
    let text = std::fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for name in LimitName::ALL {
        let values = LimitProfile::ALL.map(|profile| profile.limits().get(name).to_string());
        let row = format!("| `{name}` | {} | {} | `{}` |", name.unit(), values.join(" | "), name.code());
        assert!(text.contains(&row), "docs/limits.md lacks: {row}");
    }
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut documents =
        vec![root().join("README.md"), root().join("ARCHITECTURE.md"), root().join("LIMITATIONS.md")];
    for folder in ["docs", "bench"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    let mut broken = Vec::new();
    for document in &documents {
        let text = std::fs::read_to_string(document).unwrap();
        for link in links(&text) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !document.parent().unwrap_or(Path::new(".")).join(target).exists() {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Targets of Markdown links that are neither addresses nor anchors.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://") && !target.starts_with('#') && !target.contains(' '))
        .collect()
}

/// Variables named `LUAPLAN_…` are keys of the configuration: one that only holds a value is refused there.
#[test]
fn no_text_keeps_a_value_in_a_variable_of_the_configuration() {
    let mut folders = vec![root().join("docs"), root().join("examples")];
    let mut texts = vec![root().join("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { texts.push(path) }
        }
    }
    let mut seen = 0;
    for path in texts {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        seen += text.matches("\"env:").count();
        assert!(!text.contains("env:LUAPLAN_"), "{} keeps a value in LUAPLAN_…", path.display());
    }
    assert!(seen > 1, "no text names a variable as env:NAME");
}

#[test]
fn the_readme_names_every_guide() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            assert!(readme.contains(&format!("docs/{name}")), "README.md does not name docs/{name}");
        }
    }
}
