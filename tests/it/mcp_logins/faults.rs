//! Logins that come to nothing, and authorization servers that do harm.

use luaplan::app::{begin_mcp_login, log_in_to_mcp_server_as_service};
use luaplan::base::{Error, ErrorCode};
use luaplan::http::Redirect;

use super::site::Site;
use super::{config, folder, token_file};

const BACK: &str = "http://127.0.0.1:1/callback";

/// Why a login cannot even start.
async fn refusal(site: &Site, rest: &str) -> Error {
    let folder = folder(site, rest);
    let error = begin_mcp_login(&config(folder.path()), "far", BACK, &[]).await.map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::McpLoginFailed, "{error}");
    error
}

fn assert_says(error: &Error, words: &str) {
    assert!(error.message().contains(words), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_does_not_say_is_not_guessed() {
    let site = Site::start().await;
    site.seen().has_pkce = false;
    assert_says(&refusal(&site, "").await, "PKCE");
    site.seen().has_pkce = true;
    site.seen().has_registration = false;
    let error = refusal(&site, "").await;
    assert!(error.help().contains("mcp.far.oauth.client_id"), "{}", error.help());
    site.seen().has_metadata = false;
    assert_says(&refusal(&site, "").await, "none published usable metadata");
    site.seen().has_resource_metadata = false;
    let error = refusal(&site, "").await;
    assert_says(&error, "failed: neither it nor its host says which authorization server gives leave");
    assert!(error.help().contains("Authorization = "), "{}", error.help());
    // One that answers without a token has nothing to log in to.
    site.seen().is_open = true;
    let error = refusal(&site, "").await;
    assert_says(&error, "failed: it asks for no login");
    assert!(error.help().contains("`luaplan mcp accept far`"), "{}", error.help());
    luaplan::app::offer_of_mcp_server(&config(folder(&site, "").path()), "far", true).await.unwrap();
    assert!(site.seen().token_requests.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_metadata_leads_to_a_private_address() {
    let (site, inside) = (Site::start().await, Site::start().await);
    for (authority, words) in [
        ("https://10.1.2.3", "none published usable metadata"),
        ("https://169.254.169.254/", "none published usable metadata"),
        // Loopback is another place than the server's own port.
        (inside.base.as_str(), "mcp.far.oauth.allow_hosts"),
    ] {
        site.seen().authority = authority.to_owned();
        assert_says(&refusal(&site, "").await, words);
    }
    site.seen().authority.clear();
    // Each endpoint is judged by itself.
    site.seen().token_endpoint = format!("{}/token", inside.base);
    let place = folder(&site, "");
    let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
    // The browser's answer is that of another login here: it is refused before anything is sent.
    let error = login.finish(&Site::browse(&login_address(&site)).await).await.unwrap_err();
    assert_says(&error, "state");
    let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
    let came = Site::browse(login.address()).await;
    let error = login.finish(&came).await.unwrap_err();
    assert_says(&error, "mcp.far.oauth.allow_hosts");
    assert!(inside.seen().token_requests.is_empty(), "nothing was sent there");

    // Named in full it is meant.
    site.seen().token_endpoint.clear();
    site.seen().authority.clone_from(&inside.base);
    let host = inside.base.trim_start_matches("http://").to_owned();
    let place = folder(&site, &format!("oauth = {{ allow_hosts = [\"{host}\"] }}"));
    let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
    assert!(login.address().starts_with(&inside.base));
}

/// An address of the site's own, good for no login of ours.
fn login_address(site: &Site) -> String {
    format!(
        "{}/authorize?response_type=code&state=theirs&code_challenge=x&code_challenge_method=S256&redirect_uri={BACK}",
        site.base
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_in_the_clear() {
    let site = Site::start().await;
    site.seen().token_endpoint = "http://auth.example.com/token".to_owned();
    let place = folder(&site, "");
    let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
    let came = Site::browse(login.address()).await;
    assert_says(&login.finish(&came).await.unwrap_err(), "not https");
    for endpoint in ["http://auth.example.com/authorize", "javascript:alert(1)", "file:///etc/passwd"] {
        site.seen().authorization_endpoint = endpoint.to_owned();
        assert_says(&refusal(&site, "").await, "not https");
    }
    let plain = tempfile::tempdir().unwrap();
    super::write(plain.path(), "[mcp.far]\nurl = \"http://mcp.example.com/mcp\"\n");
    let error = begin_mcp_login(&config(plain.path()), "far", BACK, &[]).await.map(drop).unwrap_err();
    assert_says(&error, "not https");
    super::write(
        plain.path(),
        "[mcp.far]\nurl = \"http://mcp.example.com/mcp\"\noauth = { grant = \"client_credentials\", client_id = \"a\", \
         client_secret_env = \"SERVICE_SECRET\" }\n",
    );
    let error = log_in_to_mcp_server_as_service(&config(plain.path()), "far").await.unwrap_err();
    assert_says(&error, "not https");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_another_state_does_not_count() {
    let site = Site::start().await;
    let place = folder(&site, "");
    let redirect = Redirect::listen(0).await.unwrap();
    let uri = redirect.uri().to_owned();
    let login = begin_mcp_login(&config(place.path()), "far", &uri, &[]).await.unwrap();
    let state = login.state().to_owned();
    assert!(state.len() >= 16, "{state}");
    let waiting = tokio::spawn(async move { redirect.wait(&state).await });
    for forged in ["?code=c&state=forged", "?code=c", "", "?state=&code=c"] {
        assert_eq!(reqwest::get(format!("{uri}{forged}")).await.unwrap().status(), 400, "{forged}");
    }
    assert_eq!(reqwest::get(uri.replace("/callback", "/")).await.unwrap().status(), 404);
    assert!(!waiting.is_finished());
    let target = Site::browse(login.address()).await;
    let page = reqwest::get(&target).await.unwrap();
    assert_eq!(
        (page.status().as_u16(), &page.headers()["cache-control"]),
        (200, &"no-store".parse().unwrap())
    );
    login.finish(&waiting.await.unwrap()).await.unwrap();
    assert!(token_file(place.path()).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_says_no_is_heard() {
    let site = Site::start().await;
    site.seen().denies = true;
    let place = folder(&site, "");
    let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
    let came = Site::browse(login.address()).await;
    let error = login.finish(&came).await.unwrap_err();
    assert_says(&error, "access_denied: the person");
    assert!(!error.message().contains('\u{1b}'), "{error:?}");
    assert!(!token_file(place.path()).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_authorization_server_is_refused() {
    let site = Site::start().await;
    site.seen().issuer_sent = "https://evil.example.com".to_owned();
    let place = folder(&site, "");
    let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
    let came = Site::browse(login.address()).await;
    assert_says(&login.finish(&came).await.unwrap_err(), "issuer mismatch");
    assert!(site.seen().token_requests.is_empty(), "the code was sent nowhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_endpoint_that_hangs_or_floods_ends_the_login() {
    let site = Site::start().await;
    let place = folder(&site, "");
    for (flood, words) in [(true, "more than 262144 bytes"), (false, "did not answer in time")] {
        (site.seen().token_floods, site.seen().token_hangs) = (flood, !flood);
        let login = begin_mcp_login(&config(place.path()), "far", BACK, &[]).await.unwrap();
        let came = Site::browse(login.address()).await;
        assert_says(&login.finish(&came).await.unwrap_err(), words);
    }
    assert!(!token_file(place.path()).exists());
}

#[test]
fn configuration_that_makes_no_sense_is_refused_by_key() {
    let place = tempfile::tempdir().unwrap();
    let environment = super::environment(place.path());
    for (settings, key) in [
        ("command = [\"x\"]\noauth = { client_id = \"a\" }", "mcp.far.oauth"),
        (
            "url = \"https://a.example\"\nheaders = { authorization = \"x\" }\noauth = { client_id = \"a\" }",
            "mcp.far.oauth",
        ),
        ("url = \"https://a.example\"\noauth = { grant = \"password\" }", "mcp.far.oauth.grant"),
        (
            "url = \"https://a.example\"\noauth = { client_secret_env = \"SERVICE_SECRET\" }",
            "mcp.far.oauth.client_id",
        ),
        (
            "url = \"https://a.example\"\noauth = { grant = \"client_credentials\", client_id = \"a\" }",
            "mcp.far.oauth.client_secret_env",
        ),
        (
            "url = \"https://a.example\"\noauth = { allow_hosts = [\"http://x\"] }",
            "mcp.far.oauth.allow_hosts",
        ),
    ] {
        super::write(place.path(), &format!("[mcp.far]\n{settings}\n"));
        let loaded = luaplan::app::config::load(&environment, &luaplan::app::config::LoadOptions::default());
        let error = loaded.unwrap().check(&environment).unwrap_err();
        assert!(error.message().contains(key), "{settings}: {error}");
    }
}

#[test]
fn lists_with_what_no_server_can_use_are_refused_by_key_and_value() {
    let place = tempfile::tempdir().unwrap();
    let environment = super::environment(place.path());
    let check = |list: &str, entry: &str| {
        super::write(
            place.path(),
            &format!(
                "[mcp.far]\nurl = \"https://a.example\"\noauth = {{ {list} = [\"fine\", \"{entry}\"] }}\n"
            ),
        );
        let loaded = luaplan::app::config::load(&environment, &luaplan::app::config::LoadOptions::default());
        loaded.unwrap().check(&environment).map(drop)
    };
    for scope in ["", " ", "a b", "a\\tb", "a\\u001bb", "\\u00e9", "a\\\"b", "a\\\\b"] {
        let error = check("scopes", scope).unwrap_err();
        let shown = scope.replace("\\u001b", "\\u{1b}").replace("\\u00e9", "é");
        assert!(error.message().contains("mcp.far.oauth.scopes"), "{error}");
        assert!(error.message().contains(&format!("`{shown}`")), "{error}");
        assert!(error.message().contains("one word"), "{error}");
    }
    check("scopes", "https://a.example/notes.read").unwrap();
    for host in
        ["", " ", "https://a.example", "a.example/x", "a.example:80/x", " a.example", "a@b", "a%2eb", "a\\tb"]
    {
        let error = check("allow_hosts", host).unwrap_err();
        assert!(
            error.message().contains(&format!("`{host}` in `mcp.far.oauth.allow_hosts`")),
            "{host}: {error}"
        );
        assert!(error.help().contains("without scheme"), "{error}");
    }
    check("allow_hosts", "*.a.example").unwrap();
}
