//! The manifests that come with the binary.

use super::{ToolSpec, read_manifest};
use crate::base::Result;

const MANIFESTS: [(&str, &str); 5] = [
    ("tools/query_db.toml", include_str!("../../tools/query_db.toml")),
    ("tools/fetch_url.toml", include_str!("../../tools/fetch_url.toml")),
    ("tools/transform_data.toml", include_str!("../../tools/transform_data.toml")),
    ("tools/send_email.toml", include_str!("../../tools/send_email.toml")),
    ("tools/call_llm.toml", include_str!("../../tools/call_llm.toml")),
];

/// The built-in tools as their manifests declare them.
///
/// # Errors
/// `config_invalid` where a manifest is not valid; a test keeps that from happening.
pub fn builtin_manifests() -> Result<Vec<ToolSpec>> {
    MANIFESTS.iter().map(|(origin, text)| read_manifest(text, origin)).collect()
}
