//! Stands for `luaplan tools import` in a build without the feature `openapi`.

use luaplan_base::{Error, ErrorCode, Result};

use super::Session;
use crate::cli::args::ImportArgs;

pub(super) async fn run(_: &Session<'_>, _: &ImportArgs) -> Result<u8> {
    Err(Error::new(ErrorCode::Usage, "this build of luaplan imports no OpenAPI documents")
        .with_help("use a build with the feature `openapi`, as releases are, or write the manifest by hand"))
}
