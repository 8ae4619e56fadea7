//! Redirects that lead to where a plan may not go: each status, each kind of private target, each form of
//! `Location`, over chains of several lengths. None is followed to its end.
use luaplan::tools::fetch_url::FetchUrlSettings;
use tokio::io::AsyncWriteExt as _;

use crate::fetch_url_parts::{Server, allowing, fetch, response, tool};

const STATUSES: [&str; 5] = [
    "301 Moved Permanently",
    "302 Found",
    "303 See Other",
    "307 Temporary Redirect",
    "308 Permanent Redirect",
];

/// Ways on the first server before the last one leads out of it.
const FORMS: [&str; 3] = ["relative", "absolute", "protocol-relative"];

/// Spellings of the server inside, whose port is PORT, and places without a server.
const TARGETS: [&str; 14] = [
    "http://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://localhost:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://user:pass@127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http://１２７.0.0.1:PORT/",
    "http://0.0.0.0:PORT/",
    "http://169.254.169.254/latest/meta-data/",
];

/// Answers `/STATUS/FORM/STEPS/TARGET`: one step less, or the target.
async fn outside(inside_port: u16) -> Server {
    Server::start(move |mut stream, head| async move {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let host =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
        let host = host.unwrap_or_default();
        let numbers: Vec<usize> = path.split('/').filter_map(|part| part.parse().ok()).collect();
        let [status, form, steps, target] = numbers[..] else { return };
        let location = match steps.checked_sub(1) {
            None => TARGETS[target].replace("PORT", &inside_port.to_string()),
            Some(steps) => {
                let path = format!("/{status}/{form}/{steps}/{target}");
                match FORMS[form] {
                    "relative" => path,
                    "absolute" => format!("http://{}{path}", host.trim()),
                    _ => format!("//{}{path}", host.trim()),
                }
            }
        };
        let answer = response(STATUSES[status], &format!("Location: {location}\r\n"), b"");
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_leads_inside() {
    let inside = Server::fixed(response("200 OK", "", b"secret")).await;
    let outside = outside(inside.address.port()).await;
    let own = outside.address.to_string();
    // One list of hosts, and one that has every public host beside it.
    let alone = tool(FetchUrlSettings { redirects_max: 5, ..allowing([own.clone()]) });
    let with_public = tool(FetchUrlSettings { redirects_max: 5, ..allowing([own, "*".to_owned()]) });
    let tools = [alone, with_public];
    let (mut chains, mut faults) = (0, Vec::new());
    for (status, form, target) in (0..STATUSES.len())
        .flat_map(|status| (0..FORMS.len()).map(move |form| (status, form)))
        .flat_map(|(status, form)| (0..TARGETS.len()).map(move |target| (status, form, target)))
    {
        // Each combination once; how long its chain is and which list it meets goes round.
        let steps = chains % 4;
        let tool = &tools[(chains / 4) % 2];
        chains += 1;
        let outcome = fetch(tool, &outside.url(&format!("/{status}/{form}/{steps}/{target}"))).await;
        let code = outcome.as_ref().err().map(|failure| failure.code.as_str());
        if !matches!(code, Some("url_blocked" | "url_invalid")) {
            let named = (STATUSES[status], FORMS[form], steps, TARGETS[target]);
            faults.push(format!("{named:?}: {outcome:?}"));
        }
    }
    assert!(chains >= 168, "{chains}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(inside.requests(), 0);
    assert!(outside.requests() > chains, "no chain was followed at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_that_stays_outside_is_followed() {
    let outside = outside(1).await;
    let own = tool(FetchUrlSettings { redirects_max: 2, ..allowing([outside.address.to_string()]) });
    let failure = fetch(&own, &outside.url("/1/0/9/0")).await.unwrap_err();
    assert_eq!(outside.requests(), 3, "{failure:?}");
}
