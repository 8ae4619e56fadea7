//! The manifests that come with the binary.

use luaplan_base::Result;

use super::{ToolSpec, read_manifest};

/// By the name of their tool.
const MANIFESTS: [(&str, &str); 8] = [
    ("query_db", include_str!("../../tools/query_db.toml")),
    ("fetch_url", include_str!("../../tools/fetch_url.toml")),
    ("transform_data", include_str!("../../tools/transform_data.toml")),
    ("send_email", include_str!("../../tools/send_email.toml")),
    ("call_llm", include_str!("../../tools/call_llm.toml")),
    ("sleep", include_str!("../../tools/sleep.toml")),
    ("wait_until", include_str!("../../tools/wait_until.toml")),
    ("call_agent", include_str!("../../tools/call_agent.toml")),
];

/// The built-in tools as their manifests declare them.
///
/// # Errors
/// `config_invalid` where a manifest is not valid; a test keeps that from happening.
pub fn builtin_manifests() -> Result<Vec<ToolSpec>> {
    MANIFESTS.iter().map(|(name, text)| read_manifest(text, &format!("tools/{name}.toml"))).collect()
}

/// Whether a built-in tool has this name; no manifest is read for it.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    MANIFESTS.iter().any(|(builtin, _)| *builtin == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_manifest_stands_under_the_name_of_its_tool() {
        let specs = builtin_manifests().unwrap();
        assert_eq!(specs.len(), MANIFESTS.len());
        assert!(specs.iter().all(|spec| is_builtin(&spec.name)));
        assert!(!is_builtin("query"));
    }
}
