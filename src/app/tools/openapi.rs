//! Reading an OpenAPI document, and what its operations become here.

use std::io::Read as _;
use std::path::Path;

use luaplan_base::{Clock as _, Error, ErrorCode, Result, SystemClock};
use luaplan_catalog::read_manifest;
use luaplan_tools::manifest::check_settings;
use luaplan_tools::openapi::{DOCUMENT_BYTES_MAX, Document, ImportOptions, Operation, fetch};

use crate::tools::manifests::check_tool_name;

/// A document from a file, or from a server where `source` is an address.
///
/// # Errors
/// `openapi_unusable` for what is no document that can be read; `file_unreadable`.
pub async fn read_openapi(source: &str, working_dir: &Path) -> Result<Document> {
    if source.contains("://") {
        let (text, url) = fetch(source, SystemClock.now()).await?;
        return Document::read(&text, source, Some(url));
    }
    let unreadable = |what: &dyn std::fmt::Display| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot read {source}: {what}"))
    };
    let path = working_dir.join(source);
    let metadata = std::fs::metadata(&path).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(unreadable(&"it is no file"));
    }
    let file = std::fs::File::open(&path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err(
            unreadable(&"it is larger than a document may be").with_limit(DOCUMENT_BYTES_MAX, metadata.len())
        );
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8 text"))?;
    Document::read(&text, source, None)
}

/// Every operation of a document, with a manifest that passes the check of manifests or the reason why
/// there is none.
#[must_use]
pub fn openapi_operations(document: &Document, options: &ImportOptions) -> Vec<Operation> {
    let mut operations = document.operations(options);
    for operation in &mut operations {
        let checked = match &operation.manifest {
            Ok(manifest) => check_manifest(&manifest.text).err(),
            Err(_) => None,
        };
        if let Some(error) = checked {
            let message = error.message();
            let reason = message
                .strip_prefix("the manifest")
                .map_or(message, |rest| rest.trim_start_matches([':', ',', ' ']));
            operation.manifest = Err(reason.to_owned());
        }
    }
    operations
}

/// Refuses the text of a manifest that the folder of manifests would refuse.
fn check_manifest(text: &str) -> Result<()> {
    let spec = read_manifest(text, "the manifest")?;
    check_tool_name(&spec.name)?;
    check_settings(&spec)
}
