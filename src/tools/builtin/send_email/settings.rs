//! `[tools.send_email]`: as written, then as checked.

use std::path::PathBuf;

use lettre::message::Mailbox;
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use secrecy::SecretString;
use serde::Deserialize;
use url::{Host, Url};

use luaplan_base::{Error, ErrorCode, Result, written};
use luaplan_catalog::regular_file::read_bytes;

use super::recipients::{RecipientAllowList, parse_sender};

/// The tool's settings in the configuration. `smtp` and `from` have no default: without them the tool
/// is not offered.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendEmailSettings {
    /// `smtps://HOST[:465]` is TLS from the first byte. `smtp://HOST[:587]` is STARTTLS, required,
    /// except for a loopback host, where it is plain. `?tls=required|opportunistic|none` says it.
    pub smtp: String,
    /// The sender: `user1@example.com` or `Reports <user1@example.com>`. Plans cannot change it.
    pub from: String,
    /// The allowed recipients: `user1@example.com`, `*@example.com`, `*@*.example.com`, `*@*`. Empty:
    /// none.
    #[serde(default)]
    pub allow_recipients: Vec<String>,
    /// User name at the server; absent: no authentication.
    pub username: Option<String>,
    /// Name of the environment variable that holds the password.
    pub password_env: Option<String>,
    /// The most bytes of body and attachments together; a number or `"20MiB"`.
    #[serde(default = "default_attachment_bytes_max", deserialize_with = "written::bytes")]
    pub attachment_bytes_max: u64,
    /// The most recipients of one message, `to`, `cc` and `bcc` together.
    #[serde(default = "default_recipients_max")]
    pub recipients_max: usize,
    /// A PEM file with certificates trusted beside the public ones, for a private authority.
    pub ca_file: Option<PathBuf>,
    /// The name given in EHLO; the machine's own name by default.
    pub hello_name: Option<String>,
}

const fn default_attachment_bytes_max() -> u64 {
    20 * 1024 * 1024
}

const fn default_recipients_max() -> usize {
    50
}

/// When a connection is encrypted.
#[derive(Clone)]
pub(super) enum Encryption {
    Implicit(TlsParameters),
    StartTls(TlsParameters),
    Opportunistic(TlsParameters),
    Plain,
}

/// The server that takes the mail, and how to reach it.
pub(super) struct MailServer {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_loopback: bool,
    pub(super) encryption: Encryption,
    pub(super) hello: ClientId,
    pub(super) login: Option<(String, SecretString)>,
}

/// The settings, checked.
pub(super) struct Checked {
    pub(super) server: MailServer,
    pub(super) from: Mailbox,
    pub(super) allowed: RecipientAllowList,
    pub(super) attachment_bytes_max: u64,
    pub(super) recipients_max: usize,
}

impl Checked {
    pub(super) fn new(settings: SendEmailSettings, password: Option<SecretString>) -> Result<Self> {
        let from = parse_sender(&settings.from)
            .map_err(|reason| invalid("from", &format!("`{}` {reason}", settings.from.escape_debug())))?;
        let allowed = RecipientAllowList::parse(&settings.allow_recipients).map_err(|pattern| {
            let shown = pattern.escape_debug();
            invalid("allow_recipients", &format!("holds `{shown}`, which is no address pattern"))
                .with_help("write `user1@example.com`, `*@example.com` or `*@*.example.com`")
        })?;
        for (key, value) in [
            ("attachment_bytes_max", settings.attachment_bytes_max),
            ("recipients_max", settings.recipients_max as u64),
        ] {
            if value == 0 {
                return Err(invalid(key, "must be above zero"));
            }
        }
        Ok(Self {
            from,
            allowed,
            attachment_bytes_max: settings.attachment_bytes_max,
            recipients_max: settings.recipients_max,
            server: MailServer::new(settings, password)?,
        })
    }
}

impl MailServer {
    fn new(settings: SendEmailSettings, password: Option<SecretString>) -> Result<Self> {
        let url = Url::parse(&settings.smtp)
            .map_err(|error| invalid("smtp", &format!("is not an address ({error})")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("smtp", "must not hold a user name or a password").with_help(
                "put the user into `username` and the name of an environment variable into `password_env`",
            ));
        }
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(invalid("smtp", "has more than a host, a port and `?tls=`"));
        }
        let Some((host, is_loopback)) = host_of(&url) else {
            return Err(invalid("smtp", "names no host"));
        };
        let tls = || tls_parameters(&host, &settings);
        let implicit = match url.scheme() {
            "smtps" => true,
            "smtp" => false,
            other => {
                return Err(invalid("smtp", &format!("must begin with smtp:// or smtps://, not {other}://")));
            }
        };
        let (encryption, default_port) = match (implicit, wanted_tls(&url)?.as_deref()) {
            (true, None | Some("required")) => (Encryption::Implicit(tls()?), 465),
            (true, Some(_)) => return Err(invalid("smtp", "with smtps:// is always encrypted")),
            (false, None) if is_loopback => (Encryption::Plain, 25),
            (false, None | Some("required")) => (Encryption::StartTls(tls()?), 587),
            (false, Some("opportunistic")) => (Encryption::Opportunistic(tls()?), 25),
            (false, Some("none")) => (Encryption::Plain, 25),
            (false, Some(other)) => {
                let reason = format!("has `tls={}`", other.escape_debug());
                return Err(invalid("smtp", &reason).with_help("tls is required, opportunistic or none"));
            }
        };
        let login = login_of(&settings, password)?;
        if login.is_some() && !is_loopback && matches!(encryption, Encryption::Plain) {
            return Err(invalid("smtp", "would send the password unencrypted to another machine")
                .with_help("use smtps://, or leave `?tls=none` out"));
        }
        let hello = match settings.hello_name {
            Some(name) if !is_hello_name(&name) => {
                return Err(invalid("hello_name", "is not a host name"));
            }
            Some(name) => ClientId::Domain(name),
            None => ClientId::default(),
        };
        Ok(Self { port: url.port().unwrap_or(default_port), host, is_loopback, encryption, hello, login })
    }
}

fn host_of(url: &Url) -> Option<(String, bool)> {
    // For schemes it does not know, `Url` leaves even an IPv4 address as a name.
    Some(match Host::parse(url.host_str()?).ok()? {
        Host::Domain(name) if name.is_empty() => return None,
        Host::Domain(name) => (name.clone(), name == "localhost"),
        Host::Ipv4(ip) => (ip.to_string(), ip.is_loopback()),
        Host::Ipv6(ip) => (ip.to_string(), ip.is_loopback()),
    })
}

fn wanted_tls(url: &Url) -> Result<Option<String>> {
    let mut wanted = None;
    for (name, value) in url.query_pairs() {
        if name != "tls" || wanted.is_some() {
            return Err(invalid("smtp", &format!("has `{}`", name.escape_debug()))
                .with_help("the only option is `?tls=`, once"));
        }
        wanted = Some(value.into_owned());
    }
    Ok(wanted)
}

fn tls_parameters(host: &str, settings: &SendEmailSettings) -> Result<TlsParameters> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(path) = &settings.ca_file {
        let pem = read_bytes(path)
            .map_err(|error| invalid("ca_file", &format!("{} cannot be read: {error}", path.display())))?;
        let holds_none = || invalid("ca_file", &format!("{} holds no PEM certificate", path.display()));
        if !pem.windows(11).any(|window| window == b"-----BEGIN ") {
            return Err(holds_none());
        }
        builder = builder.add_root_certificate(Certificate::from_pem(&pem).map_err(|_| holds_none())?);
    }
    builder.build().map_err(|error| invalid("smtp", &format!("TLS cannot be set up: {error}")))
}

fn login_of(
    settings: &SendEmailSettings,
    password: Option<SecretString>,
) -> Result<Option<(String, SecretString)>> {
    match (&settings.username, &settings.password_env, password) {
        (None, None, _) => Ok(None),
        (Some(username), Some(_), Some(password)) => Ok(Some((username.clone(), password))),
        (Some(_), Some(variable), None) => Err(invalid(
            "password_env",
            &format!("names the environment variable {}, which is not set", variable.escape_debug()),
        )),
        (Some(_), None, _) => Err(invalid("password_env", "is missing beside `username`")),
        (None, Some(_), _) => Err(invalid("username", "is missing beside `password_env`")),
    }
}

fn is_hello_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
}

fn invalid(key: &str, reason: &str) -> Error {
    let key = format!("tools.send_email.{key}");
    Error::new(ErrorCode::ConfigInvalid, format!("{key} {reason}")).with_detail("key", key)
}
