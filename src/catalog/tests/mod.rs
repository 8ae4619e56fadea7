//! Catalog: manifests, arguments, stubs. The tools here are fixtures in tests/cases/catalog.

mod bind;
mod manifest;
mod references;
mod search;
mod seen;
mod stub;

use super::*;

fn fixtures() -> Catalog {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/catalog");
    load_folder(&folder).unwrap().into_iter().collect()
}
