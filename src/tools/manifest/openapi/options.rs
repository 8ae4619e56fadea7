//! What the user of an import decides.

/// The user's options for an import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Names tools `PREFIX.operation`.
    pub prefix: Option<String>,
    /// The server to call, in place of the document's.
    pub server: Option<String>,
    /// The name of the secret, in place of the security scheme's.
    pub secret: Option<String>,
    /// The user of HTTP basic authentication.
    pub user: Option<String>,
}
