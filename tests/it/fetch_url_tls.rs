//! `fetch_url` over TLS.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::Write as _;
use std::sync::Arc;

use luaplan::base::{ErrorCode, Value};
use luaplan::tools::fetch_url::{FetchUrl, FetchUrlSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls;

use crate::fetch_url_parts::{Server, fetch, response, spec, tool};

/// An HTTPS server for `localhost` with a certificate of its own; its port and that certificate.
async fn https(answer: Vec<u8>) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
    });
    (port, made.cert.pem())
}

fn trusting(pem: &str, hosts: Vec<String>) -> (FetchUrl, tempfile::NamedTempFile) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    let settings = FetchUrlSettings {
        allow_hosts: hosts,
        ca_file: Some(file.path().to_owned()),
        ..FetchUrlSettings::default()
    };
    (tool(settings), file)
}

#[tokio::test]
async fn https_works_with_a_trusted_authority_and_is_refused_without() {
    let (port, pem) = https(response("200 OK", "", b"private")).await;
    let url = format!("https://localhost:{port}/");
    let (trusting, _file) = trusting(&pem, vec!["localhost".to_owned()]);
    assert_eq!(fetch(&trusting, &url).await.unwrap(), Value::from("private"));

    let suspicious =
        tool(FetchUrlSettings { allow_hosts: vec!["localhost".to_owned()], ..FetchUrlSettings::default() });
    let failure = fetch(&suspicious, &url).await.unwrap_err();
    assert_eq!(failure.code, "fetch_failed");
    assert!(!failure.retryable);
    assert!(failure.message.contains("certificate is not trusted"), "{}", failure.message);
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let plain = Server::fixed(response("200 OK", "", b"plain")).await;
    let (port, pem) = https(response("302 Found", &format!("Location: {}\r\n", plain.url("/")), b"")).await;
    let (tool, _file) = trusting(&pem, vec!["localhost".to_owned(), plain.address.to_string()]);
    let failure = fetch(&tool, &format!("https://localhost:{port}/")).await.unwrap_err();
    assert_eq!(failure.code, "url_blocked");
    assert_eq!(failure.details["rule"], Value::from("https_downgrade"));
    assert_eq!(plain.requests(), 0);
}

#[test]
fn a_ca_file_that_is_missing_or_holds_no_certificate_is_refused_when_the_tool_is_made() {
    let with = |path: &std::path::Path| {
        let settings = FetchUrlSettings { ca_file: Some(path.to_owned()), ..FetchUrlSettings::default() };
        FetchUrl::new(spec(std::time::Duration::from_secs(1)), settings).err().unwrap().code()
    };
    assert_eq!(with("/nowhere/ca.pem".as_ref()), ErrorCode::FileUnreadable);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n").unwrap();
    assert_eq!(with(file.path()), ErrorCode::ConfigInvalid);
}
