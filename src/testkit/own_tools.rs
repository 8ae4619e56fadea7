//! `-- luaplan: tools_dir(FOLDER)` in a test file: manifests of tools its plan calls, relative to the test
//! file, so that its tests pass from any working folder.

use std::path::Path;
use std::sync::Arc;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_catalog::regular_file::read_text;
use luaplan_catalog::{Catalog, is_builtin, load_folder};

const MARK: &str = "luaplan: tools_dir(";

/// The tools of `catalog`, and those of the folder that the test file at `path` names in its text; a tool of the
/// folder replaces one of the same name.
///
/// # Errors
/// `config_unreadable` where the folder cannot be read; as reading manifests.
pub(super) fn with_own_tools(path: &Path, text: &str, catalog: &Arc<Catalog>) -> Result<Arc<Catalog>> {
    let Some((line, named)) = folder_named(text) else { return Ok(catalog.clone()) };
    let placed = |error: &Error| {
        let message = format!("line {line}: `tools_dir({named})`: {}", error.message());
        Error::new(error.code(), message).with_help(error.help())
    };
    let folder = path.parent().unwrap_or(Path::new("")).join(named);
    let own = load_folder(&folder).map_err(|error| placed(&error))?;
    if let Some(taken) = own.iter().find(|spec| is_builtin(&spec.name)) {
        let message = format!("`{}` is a built-in tool already", taken.name);
        return Err(placed(&Error::new(ErrorCode::ConfigInvalid, message)));
    }
    let mut all = Catalog::clone(catalog);
    own.into_iter().for_each(|spec| all.insert(spec));
    Ok(Arc::new(all))
}

/// Whether the test file at `path` names a folder of its own.
#[must_use]
pub fn names_own_tools(path: &Path) -> bool {
    read_text(path).is_ok_and(|text| folder_named(&text).is_some())
}

/// The folder that is named, and the line that names it.
fn folder_named(text: &str) -> Option<(usize, &str)> {
    text.lines().enumerate().find_map(|(index, line)| {
        let comment = line.trim_start().strip_prefix("--")?.trim_start();
        let (folder, _) = comment.strip_prefix(MARK)?.split_once(')')?;
        Some((index + 1, folder.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_its_own_names_the_folder() {
        for (text, named) in [
            ("-- luaplan: tools_dir(luaplan-tools)\ntest()", Some((1, "luaplan-tools"))),
            ("-- a test\n  --luaplan: tools_dir( ../tools ) for the shop", Some((2, "../tools"))),
            ("print('-- luaplan: tools_dir(x)')", None),
            ("-- luaplan: tools_dir(x", None),
            ("-- luaplan: allow(x)", None),
        ] {
            assert_eq!(folder_named(text), named, "{text}");
        }
    }
}
