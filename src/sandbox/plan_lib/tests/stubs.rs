//! The functions there are, the stubs and the documentation say the same.

use std::collections::BTreeSet;

use luaplan_base::Value;

use super::super::{LIBRARIES, LIBRARY_STUBS, library_signatures};
use super::vm::{is_limit, result};

/// `library.name` of every function, `math.round` and `step`.
fn functions() -> BTreeSet<String> {
    let mut names = BTreeSet::from(["math.round".to_owned(), "step".to_owned()]);
    for library in &LIBRARIES {
        let members = result(&format!(
            "return list.filter(list.keys({0}), function(name) return type({0}[name]) == 'function' end)",
            library.name
        ))
        .unwrap();
        let members = members.as_array().unwrap();
        assert!(!members.is_empty(), "{} is empty", library.name);
        names.extend(members.iter().map(|name| format!("{}.{}", library.name, name.as_str().unwrap())));
    }
    names
}

fn docs() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plan-library.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_function_has_one_stub_and_every_stub_a_function() {
    let mut stubbed = BTreeSet::new();
    for line in LIBRARY_STUBS.lines().filter_map(|line| line.strip_prefix("function ")) {
        let name = line.split('(').next().unwrap();
        assert!(stubbed.insert(name.to_owned()), "{name} has two stubs");
    }
    assert_eq!(stubbed, functions());
}

#[test]
fn every_stub_is_described_and_typed() {
    let lines: Vec<_> = LIBRARY_STUBS.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("function ")) {
        let above: Vec<_> = lines[..index].iter().rev().take_while(|line| line.starts_with("---")).collect();
        assert!(above.iter().any(|line| !line.starts_with("---@")), "{line} has no description");
        let params = line.split_once('(').unwrap().1.trim_end_matches(") end");
        for param in params.split(", ").filter(|param| !param.is_empty()) {
            let declared = |line: &&str| {
                let rest = line.strip_prefix("---@param ").unwrap_or_default();
                rest.starts_with(&format!("{param} ")) || rest.starts_with(&format!("{param}? "))
            };
            assert!(above.iter().any(|line| declared(line)), "{line}: {param} has no type");
        }
    }
}

#[test]
fn the_signatures_name_every_function() {
    let signatures = library_signatures();
    for name in functions() {
        assert!(signatures.contains(&format!("{name}(")), "{name} is missing");
    }
}

#[test]
fn the_stubs_are_lua() {
    result(LIBRARY_STUBS).unwrap();
}

#[test]
fn the_documentation_names_every_function() {
    let docs = docs();
    for name in functions() {
        assert!(docs.contains(&format!("{name}(")), "{name} has no example in docs/plan-library.md");
    }
}

/// `EXPRESSION --> TEXT` must give TEXT, as JSON; `--> error:
/// TEXT` must fail with it; other lines are run as they stand.
#[test]
fn the_examples_of_the_documentation_are_true() {
    let docs = docs();
    let mut examples = 0;
    for block in docs.split("```lua\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let mut pending = String::new();
        for line in block.lines() {
            let Some((expression, wanted)) = line.split_once("-->") else {
                pending.push_str(line);
                pending.push('\n');
                continue;
            };
            examples += 1;
            let (expression, wanted) = (expression.trim(), wanted.trim());
            let got = result(&format!("{pending} return json.encode(({expression}))"));
            match (got, wanted.strip_prefix("error: ")) {
                (Ok(Value::String(got)), None) => {
                    assert_eq!(got, wanted.replace("nil", "null"), "{expression}");
                }
                (Err(error), Some(part)) => {
                    assert!(error.message().contains(part) && !is_limit(&error), "{expression}: {error}");
                }
                (got, _) => panic!("{expression}: {got:?}, wanted {wanted}"),
            }
        }
    }
    assert!(examples > 100, "only {examples} examples");
}
