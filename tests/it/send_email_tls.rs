//! `send_email` over STARTTLS and implicit TLS, with authentication, against a real server.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use luaplan::base::Value;
use luaplan::demo::{SinkCredentials, SinkTls, SmtpSink, SmtpSinkOptions};
use luaplan::tools::send_email::SendEmail;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use secrecy::SecretString;
use serde_json::json;
use tempfile::TempDir;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::send_email::{hello, settings, tool};
use crate::support::{TestRun, spec};

/// A private authority's PEM file, and a server certificate for 127.0.0.1 signed by it.
fn authority(folder: &Path) -> (PathBuf, Arc<ServerConfig>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let pem = folder.join("authority.pem");
    std::fs::write(&pem, issuer.pem()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (pem, Arc::new(config))
}

struct Secured {
    sink: SmtpSink,
    ca_file: PathBuf,
    _folder: TempDir,
}

async fn secured(implicit: bool) -> Secured {
    let folder = tempfile::tempdir().unwrap();
    let (ca_file, config) = authority(folder.path());
    let mut options = SmtpSinkOptions::new(folder.path().join("mail"));
    options.tls = if implicit { SinkTls::Implicit(config) } else { SinkTls::StartTls(config) };
    options.credentials = Some(SinkCredentials { username: "mailer".into(), password: "s3cret-word".into() });
    Secured { sink: SmtpSink::start(options).await.unwrap(), ca_file, _folder: folder }
}

impl Secured {
    fn tool(&self, scheme: &str, query: &str, password: &str, with_ca: bool) -> SendEmail {
        let mut changes = json!({
            "smtp": format!("{scheme}://{}{query}", self.sink.addr()),
            "username": "mailer",
            "password_env": "MAIL_PASSWORD",
        });
        if with_ca {
            changes["ca_file"] = json!(self.ca_file);
        }
        let spec = spec("send_email", Duration::from_secs(20));
        SendEmail::new(spec, settings(&changes), Some(SecretString::from(password.to_owned()))).unwrap()
    }
}

#[tokio::test]
async fn starttls_and_implicit_tls_deliver_encrypted_and_authenticated() {
    for (implicit, scheme, query) in
        [(false, "smtp", "?tls=required"), (false, "smtp", "?tls=opportunistic"), (true, "smtps", "")]
    {
        let secured = secured(implicit).await;
        let tool = secured.tool(scheme, query, "s3cret-word", true);
        TestRun::new().call(&tool, hello()).await.unwrap();
        let received = &secured.sink.messages()[0];
        assert!(received.encrypted);
        assert_eq!(received.authenticated_as.as_deref(), Some("mailer"));
        let probed = tool.probe().await.unwrap();
        assert!(probed.contains("(TLS, authenticated)"), "{probed}");
        assert_eq!(secured.sink.messages().len(), 1, "a probe sends nothing");
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_stops_everything() {
    for (implicit, scheme, query) in [(false, "smtp", "?tls=required"), (true, "smtps", "")] {
        let secured = secured(implicit).await;
        let tool = secured.tool(scheme, query, "s3cret-word", false);
        let failure = TestRun::new().call(&tool, hello()).await.unwrap_err();
        assert_eq!(failure.code, "smtp_failed");
        assert!(!failure.retryable, "{failure:?}");
        assert!(failure.message.contains("certificate"), "{failure:?}");
        assert!(secured.sink.messages().is_empty());
    }
}

#[tokio::test]
async fn required_tls_never_falls_back_to_plain() {
    let folder = tempfile::tempdir().unwrap();
    let sink = SmtpSink::start(SmtpSinkOptions::new(folder.path())).await.unwrap();
    let tool = tool(&json!({ "smtp": format!("smtp://{}?tls=required", sink.addr()) }));
    let failure = TestRun::new().call(&tool, hello()).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", false));
    assert!(failure.message.contains("STARTTLS"), "{failure:?}");
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_never_shown() {
    let secured = secured(false).await;
    let tool = secured.tool("smtp", "?tls=required", "wr0ng-word", true);
    let failure = TestRun::new().call(&tool, hello()).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", false));
    assert_eq!(failure.details.get("smtp_code"), Some(&Value::Integer(535)));
    assert!(!format!("{failure:?}").contains("wr0ng-word"));
    let probed = tool.probe().await.unwrap_err();
    assert_eq!(probed.code().as_str(), "smtp_failed");
}
