//! Letters, handed over to a small mail server that listens in earnest.

use restante_core::secret::Secret;
use restante_store::testing::TestStore;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Failure, Letter, Mailed, Mailer};
use crate::testing::TestApp;

const LINK: &str = "https://hooks.example.com/links/canary-of-a-link";

/// Takes one connection and keeps what it was told. `refuse` is answered instead of taking the recipient.
async fn listener(refuse: Option<&'static str>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let (mut lines, mut told, mut data) = (BufReader::new(read).lines(), Vec::new(), false);
        write.write_all(b"220 test\r\n").await.unwrap();
        while let Ok(Some(line)) = lines.next_line().await {
            let word = line.get(..4).unwrap_or_default().to_uppercase();
            let answer = match word.as_str() {
                _ if data && line == "." => {
                    data = false;
                    "250 taken"
                }
                _ if data => {
                    told.push(line);
                    continue;
                }
                "DATA" => {
                    data = true;
                    "354 go on"
                }
                "RCPT" => refuse.unwrap_or("250 good"),
                "QUIT" => "221 bye",
                _ => "250 good",
            };
            told.push(line);
            if write.write_all(format!("{answer}\r\n").as_bytes()).await.is_err() || word == "QUIT" {
                break;
            }
        }
        told
    });
    (url, task)
}

async fn app(url: &str) -> TestApp {
    let a = TestApp::new(TestStore::sqlite().await);
    let mailer = Mailer::new(&Secret::new(url.to_owned()), "Restante <restante@example.com>").unwrap();
    assert!(a.app.mailer.set(mailer).is_ok());
    a
}

/// What was told, with the line breaks of the encoding taken out.
fn joined(told: &[String]) -> String {
    told.join("\n").replace("=\n", "").replace("=3D", "=")
}

#[tokio::test]
async fn a_letter_reaches_its_server_whole_with_its_link() {
    for letter in [
        Letter::invitation("eve@example.com", "Söhne & Co", LINK.to_owned()),
        Letter::new_password("eve@example.com", LINK.to_owned()),
    ] {
        let (url, server) = listener(None).await;
        let a = app(&url).await;
        assert_eq!(a.app.mail(&letter).await, Mailed::Sent);
        drop(a);
        let told = joined(&server.await.unwrap());
        assert!(
            told.contains("RCPT TO:<eve@example.com>") && told.contains("MAIL FROM:<restante@example.com>"),
            "{told}"
        );
        assert!(told.contains(LINK), "{told}");
        assert!(told.contains("Date: Mon, 30 Nov 2026"), "{told}");
        assert!(!format!("{letter:?}").contains("canary"));
    }
}

#[tokio::test]
async fn a_letter_that_is_refused_or_finds_nobody_is_told_with_its_reason() {
    let letter = Letter::invitation("eve@example.com", "Acme", LINK.to_owned());
    let (url, server) = listener(Some("550 no such person")).await;
    assert_eq!(app(&url).await.app.mail(&letter).await, Mailed::Failed(Failure::Refused(550)));
    assert!(!joined(&server.await.unwrap()).contains("canary"));
    // A port that was free a moment ago.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", gone.local_addr().unwrap());
    drop(gone);
    assert_eq!(app(&url).await.app.mail(&letter).await, Mailed::Failed(Failure::Away));
    let odd = Letter::invitation("no address", "Acme", LINK.to_owned());
    assert_eq!(app(&url).await.app.mail(&odd).await, Mailed::Failed(Failure::Unwritable));
    let without = TestApp::new(TestStore::sqlite().await);
    assert_eq!(without.app.mail(&letter).await, Mailed::NotConfigured);
}

#[tokio::test]
async fn a_name_can_not_add_a_line_to_a_letters_head() {
    let (url, server) = listener(None).await;
    let a = app(&url).await;
    let letter = Letter::invitation("eve@example.com", "Acme\r\nBcc: mallory@example.com", LINK.to_owned());
    let mailed = a.app.mail(&letter).await;
    drop(a);
    if mailed == Mailed::Sent {
        let told = server.await.unwrap();
        assert!(
            !told.iter().any(|line| line.starts_with("RCPT TO:<mallory") || line.starts_with("Bcc:")),
            "{told:?}"
        );
    }
}

#[test]
fn a_server_in_clear_is_only_for_this_machine_and_nothing_of_the_url_is_told() {
    let tried = |url: &str, from: &str| Mailer::new(&Secret::new(url.to_owned()), from).map(|_| ());
    for url in [
        "smtps://user:canary@mail.example.com",
        "smtp://user:canary@mail.example.com?tls=required",
        "smtp://127.0.0.1:25",
        "smtp://localhost",
        "smtp://[::1]:25",
    ] {
        assert_eq!(tried(url, "restante@example.com"), Ok(()), "{url}");
    }
    for url in [
        "smtp://user:canary@mail.example.com",
        "smtp://user:canary@mail.example.com?tls=opportunistic",
        "https://user:canary@mail.example.com",
        "canary",
        "smtps://",
        "",
    ] {
        let said = tried(url, "restante@example.com").unwrap_err();
        assert!(!said.contains("canary") && said.contains("smtps://"), "{said}");
    }
    assert!(tried("smtp://localhost", "nobody").unwrap_err().contains("sender"));
}
