//! `notes`: the operator's own words about a schema.

use std::path::Path;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_catalog::regular_file::read_text;

/// The longest file: about 1,000 tokens, as each prompt holds it.
const BYTES_MAX: usize = 4 * 1024;

/// # Errors
/// `config_invalid` for a file that cannot be read or is too long.
pub(super) fn read(path: &Path) -> Result<String> {
    let key = "tools.query_db.notes";
    let refuse = |why: String| {
        Error::new(ErrorCode::ConfigInvalid, format!("`{key}`: {} {why}", path.display()))
            .with_detail("key", key)
    };
    let text = read_text(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    if text.len() > BYTES_MAX {
        let why =
            format!("has {} bytes, and each prompt would hold them; it may have {BYTES_MAX}", text.len());
        return Err(refuse(why).with_limit(BYTES_MAX, text.len()));
    }
    Ok(text.trim().to_owned())
}
