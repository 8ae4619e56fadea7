//! The manifests that come with the binary.

use luaplan_base::Result;
use luaplan_manifests::MANIFESTS;

use super::{ToolSpec, read_manifest};

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
