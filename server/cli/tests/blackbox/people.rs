//! People at the program as a whole: the link on the console, the way in, and what no log may hold.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http_body_util::Full;

use crate::support::{Answer, Place, Server, send};

const PASSWORD: &str = "correct horse battery staple";

/// The path of a link that stands in a text.
fn link(text: &str, kind: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("http://localhost/{kind}/"))?;
    let token: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some(format!("/{kind}/{token}"))
}

async fn post(address: SocketAddr, path: &str, form: &str) -> Answer {
    let request = Request::post(path)
        .header("sec-fetch-site", "same-origin")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Full::new(Bytes::copy_from_slice(form.as_bytes())))
        .expect("a request");
    send(address, request).await.expect("an answer")
}

/// The session that an answer begins, as a browser sends it back.
fn session(answer: &Answer) -> String {
    let cookies = answer.headers.get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().expect("text"));
    let session = cookies.filter_map(|cookie| cookie.split(';').next()).find(|c| c.starts_with("restante="));
    session.expect("a session").to_owned()
}

async fn get_as(address: SocketAddr, path: &str, session: &str) -> Answer {
    let request = Request::get(path).header(COOKIE, session).body(Full::default()).expect("a request");
    send(address, request).await.expect("an answer")
}

both_databases!(the_console_lets_the_first_person_in_and_nobody_after_them, |place| async {
    let first = Server::start(&place).await;
    let unused = link(&first.log(), "set-up").expect("a link");
    first.stop().await;
    let server = Server::start(&place).await;
    let path = link(&server.log(), "set-up").expect("another link");
    assert_ne!(path, unused);
    let form = "email=ada@example.com&password=correct+horse+battery+staple&tenant_name=Acme";
    let answer = post(server.address(), &path, form).await;
    assert_eq!((answer.status, &answer.headers[LOCATION]), (303, &"/t/acme".parse().expect("a value")));
    let session = session(&answer);
    assert_eq!(get_as(server.address(), "/t/acme", &session).await.status, 200);
    for over in [&path, &unused] {
        assert_eq!(post(server.address(), over, form).await.status, 410);
    }
    // Neither the link nor the session nor the password is in what requests leave in the log.
    let log = server.log();
    let requests = log.lines().filter(|line| line.starts_with('{')).collect::<String>();
    assert!(requests.contains("/set-up/{link}"), "{requests}");
    for secret in [path.trim_start_matches("/set-up/"), session.trim_start_matches("restante="), "battery"] {
        assert!(!requests.contains(secret), "{requests}");
    }
    // The session outlives the server, and the next start has no link to show.
    server.stop().await;
    let server = Server::start(&place).await;
    assert_eq!(link(&server.log(), "set-up"), None);
    assert_eq!(get_as(server.address(), "/t/acme", &session).await.status, 200);
    server.stop().await;
});

both_databases!(the_operator_helps_who_lost_their_password_beside_a_running_server, |place| async {
    let server = Server::start(&place).await;
    let _ = server.tenant(&place, "acme");
    let made =
        tokio::task::block_in_place(|| place.run(&["admin", "link", "--email", "OWNER@acme.test"], ""));
    // The port of this test's server is not in its public address, and neither is it in the link.
    assert!(!made.contains("127.0.0.1:0"), "{made}");
    let token = made.trim().rsplit('/').next().expect("a token").to_owned();
    let path = format!("/links/{token}");
    let answer = post(server.address(), &path, "password=another+horse+battery+staple").await;
    assert_eq!(answer.status, 303);
    let sign_in = async |password: &str| {
        let form = format!("email=owner@acme.test&password={}", password.replace(' ', "+"));
        post(server.address(), "/sign-in", &form).await.status
    };
    assert_eq!(sign_in(PASSWORD).await, 403);
    assert_eq!(sign_in("another horse battery staple").await, 303);
    assert_eq!(post(server.address(), &path, "password=yet+another+horse+battery").await.status, 410);
    server.stop().await;
});
