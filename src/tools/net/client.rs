//! The HTTP clients: one for public hosts, one for hosts named in full.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_catalog::regular_file::read_bytes;

use super::allow_list::Permission;
use super::guard::{GuardedResolver, HostLookup};

/// The settings of a tool's connections.
pub(crate) struct ClientSettings {
    pub(crate) connect_timeout: Duration,
    pub(crate) read_timeout: Duration,
    /// More authorities to trust, as PEM.
    pub(crate) ca_file: Option<PathBuf>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(5), read_timeout: Duration::from_secs(10), ca_file: None }
    }
}

/// Two clients, so that a connection opened for a host named in full is never reused for another.
pub(crate) struct Clients {
    public: Client,
    named: Client,
}

impl Clients {
    /// Builds both.
    ///
    /// # Errors
    /// `config_invalid` where `ca_file` holds no certificate, `file_unreadable` where it cannot be
    /// read, `internal` where TLS cannot be set up.
    pub(crate) fn build(tool: &str, settings: &ClientSettings, lookup: Arc<dyn HostLookup>) -> Result<Self> {
        let tls = tls_config(tool, settings.ca_file.as_deref())?;
        let build = |permission, lookup| {
            Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .dns_resolver(GuardedResolver::new(lookup, permission))
                // A proxy would resolve names itself, past the guard.
                .no_proxy()
                .redirect(Policy::none())
                .referer(false)
                .connect_timeout(settings.connect_timeout)
                .read_timeout(settings.read_timeout)
                .user_agent(concat!("luaplan/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| setup_failed("the HTTP client could not be made").with_source(error))
        };
        let public = build(Permission::Public, lookup.clone())?;
        Ok(Self { public, named: build(Permission::Named, lookup)? })
    }

    /// The client for hosts with this permission.
    pub(crate) fn for_permission(&self, permission: Permission) -> &Client {
        match permission {
            Permission::Named => &self.named,
            Permission::Public | Permission::Refused => &self.public,
        }
    }
}

fn setup_failed(message: &str) -> Error {
    Error::new(ErrorCode::Internal, message)
}

/// Trusts what the system trusts, or the bundled Mozilla roots where the system has none (a bare
/// container), and whatever `ca_file` adds.
fn tls_config(tool: &str, ca_file: Option<&Path>) -> Result<rustls::ClientConfig> {
    let mut roots = public_roots().clone();
    if let Some(path) = ca_file {
        for certificate in read_certificates(tool, path)? {
            roots.add(certificate).map_err(|error| no_certificate(tool, path).with_source(error))?;
        }
    }
    let mut config =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| setup_failed("TLS could not be set up").with_source(error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Read once: there may be many tools.
fn public_roots() -> &'static rustls::RootCertStore {
    static ROOTS: OnceLock<rustls::RootCertStore> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        roots
    })
}

fn read_certificates(tool: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let pem = read_bytes(path).map_err(|error| {
        Error::new(
            ErrorCode::FileUnreadable,
            format!("`tools.{tool}.ca_file` ({}) cannot be read: {error}", path.display()),
        )
        .with_detail("key", format!("tools.{tool}.ca_file"))
    })?;
    let certificates = CertificateDer::pem_slice_iter(&pem)
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| no_certificate(tool, path).with_source(error))?;
    if certificates.is_empty() { Err(no_certificate(tool, path)) } else { Ok(certificates) }
}

fn no_certificate(tool: &str, path: &Path) -> Error {
    Error::new(
        ErrorCode::ConfigInvalid,
        format!("`tools.{tool}.ca_file` ({}) holds no usable certificate", path.display()),
    )
    .with_detail("key", format!("tools.{tool}.ca_file"))
    .with_help("give a PEM file with one or more CERTIFICATE blocks")
}
