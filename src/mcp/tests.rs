//! The declarations in the description of `run_lua`.

use luaplan_catalog::{Catalog, builtin_manifests, read_manifest};
use luaplan_llm::count_tokens;

use super::declarations::declare;

fn catalog(others: usize) -> Catalog {
    let other = |number: usize| {
        let manifest = format!(
            "name = \"crm.list_{number}\"\ndescription = \"Lists things. At length, and in detail.\"\neffect = \"read\"\n\
             kind = \"mcp\"\n[params]\ntype = \"object\"\n[params.properties.filter]\ntype = \"string\"\n\
             description = \"only those that fit\"\n"
        );
        read_manifest(&manifest, "tool.toml").unwrap()
    };
    (0..others).map(other).chain(builtin_manifests().unwrap()).collect()
}

#[test]
fn tools_that_fit_are_declared_in_full() {
    let text = declare(&catalog(2), 4_000);
    for declared in ["function query_db(params) end", "function crm.list_1(params) end", "in detail"] {
        assert!(text.contains(declared), "{declared} in {text}");
    }
    assert!(!text.contains("search_tools"), "{text}");
}

#[test]
fn what_does_not_fit_is_named_and_built_in_tools_come_first() {
    let text = declare(&catalog(500), 4_000);
    assert!(text.contains("function query_db(params) end"), "{text}");
    assert!(text.contains("function send_email(params) end"), "{text}");
    assert!(text.contains("function crm.list_0(params) end"), "{text}");
    assert!(!text.contains("in detail"), "only first sentences: {text}");
    assert!(text.contains("find their declarations with `search_tools`"), "{text}");
    let declared = text.split("```").nth(1).unwrap();
    let tokens = count_tokens(declared);
    assert!((2_000..=4_200).contains(&tokens), "{tokens}");
    assert!(text.ends_with(", …"), "names are not without end: {}", &text[text.len() - 80..]);
}
