use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{PictureServer, SinkCredentials, SinkTls, SmtpSink, SmtpSinkOptions};

async fn sink(change: impl FnOnce(&mut SmtpSinkOptions)) -> (SmtpSink, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = SmtpSinkOptions::new(folder.path());
    change(&mut options);
    (SmtpSink::start(options).await.unwrap(), folder)
}

/// Everything the server says when all of `input` comes in one piece, line by line.
async fn talk(sink: &SmtpSink, input: &str) -> Vec<String> {
    let mut stream = TcpStream::connect(sink.addr()).await.unwrap();
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(input.as_bytes()).await;
    let _ = stream.shutdown().await;
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8(said).unwrap().lines().map(str::to_owned).collect()
}

fn codes(lines: &[String]) -> Vec<&str> {
    lines.iter().filter(|line| line.as_bytes()[3] == b' ').map(|line| &line[..3]).collect()
}

#[tokio::test]
async fn a_pipelined_message_is_kept_exactly_as_it_came() {
    let (sink, folder) = sink(|_| ()).await;
    let input = "EHLO me\r\nMAIL FROM:<a@x.example> SIZE=40 BODY=8BITMIME\r\nRCPT TO:<b@x.example>\r\n\
                 RCPT TO:<c@x.example>\r\nDATA\r\nSubject: x\r\n\r\n..dot\r\n...\r\nlf\n.\nend\r\n.\r\nNOOP\r\nQUIT\r\n";
    let said = talk(&sink, input).await;
    assert_eq!(codes(&said), ["220", "250", "250", "250", "250", "354", "250", "250", "221"]);
    let mail = &sink.messages()[0];
    assert_eq!(mail.from, "a@x.example");
    assert_eq!(mail.to, ["b@x.example", "c@x.example"]);
    assert_eq!(std::fs::read(&mail.path).unwrap(), b"Subject: x\r\n\r\n.dot\r\n..\r\nlf\n.\nend\r\n");
    assert_eq!(mail.path.parent(), Some(folder.path()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no half-written file is left");
}

#[tokio::test]
async fn commands_out_of_order_or_unknown_are_refused() {
    let (sink, _folder) = sink(|_| ()).await;
    for (input, expected) in [
        ("MAIL FROM:<a@x.example>\r\n", vec!["220", "503"]),
        ("EHLO me\r\nRCPT TO:<a@x.example>\r\nDATA\r\n", vec!["220", "250", "503", "503"]),
        ("HELO me\r\nMAIL FROM:<a>\r\nMAIL FROM:<a>\r\n", vec!["220", "250", "250", "503"]),
        ("EHLO me\r\nMAIL FROM:a\r\nMAIL TO:<a>\r\nMAIL\r\n", vec!["220", "250", "501", "501", "501"]),
        ("EHLO me\r\nMAIL FROM:<a> X=1\r\nMAIL FROM:<a> SIZE=x\r\n", vec!["220", "250", "555", "501"]),
        (
            "VRFY root\r\nSTARTTLS\r\nAUTH PLAIN\r\nFOO\r\n\r\n",
            vec!["220", "252", "502", "503", "502", "502"],
        ),
        ("EHLO me\r\nMAIL FROM:<>\r\nRSET\r\nRCPT TO:<a@x>\r\n", vec!["220", "250", "250", "250", "503"]),
    ] {
        let said = talk(&sink, input).await;
        assert_eq!(codes(&said), expected, "{input}");
    }
    let nonsense = talk(&sink, &"NONSENSE\r\n".repeat(20)).await;
    assert_eq!(nonsense.last().unwrap(), "421 too many refused commands");
    assert_eq!(nonsense.len(), 22);
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn what_is_too_large_or_cut_off_is_not_kept() {
    let (sink, folder) = sink(|options| {
        options.message_bytes_max = 100;
        options.recipients_max = 1;
    })
    .await;
    let start = "EHLO me\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@x>\r\n";
    let long = format!("{start}DATA\r\n{}\r\n.\r\nNOOP\r\n", "x".repeat(200_000));
    assert_eq!(codes(&talk(&sink, &long).await), ["220", "250", "250", "250", "354", "552", "250"]);
    let announced = talk(&sink, "EHLO me\r\nMAIL FROM:<a@x> SIZE=101\r\n").await;
    assert_eq!(codes(&announced), ["220", "250", "552"]);
    let many = talk(&sink, &format!("{start}RCPT TO:<c@x>\r\n")).await;
    assert_eq!(codes(&many), ["220", "250", "250", "250", "452"]);
    talk(&sink, &format!("{start}DATA\r\nSubject: x\r\n\r\nno end")).await;
    for not_the_end in ["x\n.\n", "x\r\n.\n", "x\n.\r\n", ".\n", "x\r\n.\r"] {
        talk(&sink, &format!("{start}DATA\r\n{not_the_end}")).await;
    }
    talk(&sink, &"x".repeat(1_000_000)).await;
    assert!(sink.messages().is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn who_must_authenticate_cannot_send_before() {
    let (sink, _folder) = sink(|options| {
        let password = "word".into();
        options.credentials = Some(SinkCredentials { username: "user".into(), password });
    })
    .await;
    // \0user\0word, user, word, wrong
    let (plain, user, word, wrong) = ("AHVzZXIAd29yZA==", "dXNlcg==", "d29yZA==", "d3Jvbmc=");
    let mail = "MAIL FROM:<a@x>\r\n";
    for (input, last) in [
        (format!("EHLO me\r\n{mail}"), "530"),
        (format!("EHLO me\r\nAUTH PLAIN {plain}\r\n{mail}"), "250"),
        (format!("EHLO me\r\nAUTH PLAIN\r\n{plain}\r\n{mail}"), "250"),
        (format!("EHLO me\r\nAUTH LOGIN\r\n{user}\r\n{word}\r\n{mail}"), "250"),
        (format!("EHLO me\r\nAUTH LOGIN {user}\r\n{word}\r\n{mail}"), "250"),
        (format!("EHLO me\r\nAUTH LOGIN {user}\r\n{wrong}\r\n{mail}"), "530"),
        (format!("EHLO me\r\nAUTH PLAIN !!!\r\n{mail}"), "530"),
        (format!("EHLO me\r\nAUTH MAGIC\r\n{mail}"), "530"),
    ] {
        assert_eq!(codes(&talk(&sink, &input).await).last(), Some(&last), "{input}");
    }
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let (sink, _folder) = sink(|options| options.connections_max = 1).await;
    let mut first = TcpStream::connect(sink.addr()).await.unwrap();
    let mut greeting = [0; 3];
    first.read_exact(&mut greeting).await.unwrap();
    assert_eq!(codes(&talk(&sink, "").await), ["421"]);
    sink.stop().await;
    let mut rest = Vec::new();
    let _ = first.read_to_end(&mut rest).await;
}

#[tokio::test]
async fn what_was_sent_in_plain_is_not_taken_for_something_sent_under_tls() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = certified.signing_key.serialize_der().try_into().unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    let (sink, _folder) = sink(|options| options.tls = SinkTls::StartTls(config.into())).await;
    let said = talk(&sink, "EHLO me\r\nSTARTTLS\r\nEHLO me\r\nMAIL FROM:<a@x>\r\n").await;
    assert_eq!(codes(&said), ["220", "250", "220"]);
}

async fn get(server: &PictureServer, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
}

#[tokio::test]
async fn the_picture_server_serves_different_real_pictures_until_it_is_stopped() {
    let server = PictureServer::start().await.unwrap();
    let mut seen = std::collections::HashSet::new();
    for url in server.urls() {
        let name = url.rsplit('/').next().unwrap();
        let (head, body) = get(&server, &format!("/pictures/{name}")).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.to_lowercase().contains("content-type: image/png"), "{head}");
        assert_eq!(infer::get(&body).unwrap().mime_type(), "image/png");
        assert_eq!(Some(body.as_slice()), PictureServer::bytes_of(name));
        assert!(body.ends_with(b"IEND\xAE\x42\x60\x82"), "{name} is whole");
        assert!(seen.insert(body), "{name} looks like another");
    }
    assert_eq!(seen.len(), 6);
    assert!(get(&server, "/pictures/other.png").await.0.starts_with("HTTP/1.1 404"));
    assert!(get(&server, "/pictures/..%2Fmod.rs").await.0.starts_with("HTTP/1.1 404"));
    let addr = server.addr();
    server.stop().await;
    assert!(TcpStream::connect(addr).await.is_err());
}
