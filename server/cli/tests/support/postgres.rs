//! As much of PostgreSQL's protocol as a test needs: connect without a password, run a statement,
//! read rows as text. `sqlx` belongs to the product's store alone, and a driver here would share
//! its faults.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A database. One that was made by [`create`](Self::create) is dropped with this value.
pub(crate) struct Database {
    url: String,
    made: Option<Made>,
}

struct Made {
    server: String,
    name: String,
}

impl Database {
    /// Makes one on the server that a superuser's URL names.
    pub(crate) fn create(superuser_url: &str) -> Self {
        let (server, _) = superuser_url.rsplit_once('/').expect("a URL with a database's name");
        let name = format!("blackbox_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Session::open(superuser_url).run(&format!("CREATE DATABASE {name}"));
        Self { url: format!("{server}/{name}"), made: Some(Made { server: server.to_owned(), name }) }
    }

    /// One that is there, and goes with its server.
    pub(crate) fn existing(url: String) -> Self {
        Self { url, made: None }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement in it and gives the rows, each column as text.
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        self.session().run(sql)
    }

    /// A connection of its own, whose transaction may stay open.
    pub(crate) fn session(&self) -> Session {
        Session::open(&self.url)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some(made) = &self.made else { return };
        let url = format!("{}/postgres", made.server);
        let sql = format!("DROP DATABASE {} WITH (FORCE)", made.name);
        // In a thread of its own: while a test fails, a second panic would end all tests at once.
        let _ = std::thread::spawn(move || Session::open(&url).run(&sql)).join();
    }
}

/// One connection.
pub(crate) struct Session(TcpStream);

impl Session {
    /// `postgres://user@host:port/database`, without a password.
    fn open(url: &str) -> Self {
        let rest = url.split_once("://").expect("a scheme").1;
        let (user, rest) = rest.split_once('@').expect("a user");
        let (address, database) = rest.split_once('/').expect("a database");
        let mut session = Self(TcpStream::connect(address).expect("PostgreSQL answers"));
        let mut start = 196_608_i32.to_be_bytes().to_vec(); // protocol 3.0
        for text in ["user", user, "database", database, ""] {
            start.extend_from_slice(text.as_bytes());
            start.push(0);
        }
        session.send(None, &start);
        session.read_to_ready();
        session
    }

    /// Runs a statement and gives the rows.
    pub(crate) fn run(&mut self, sql: &str) -> Vec<Vec<String>> {
        self.send(Some(b'Q'), &[sql.as_bytes(), b"\0"].concat());
        self.read_to_ready()
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) {
        let length = u32::try_from(body.len() + 4).expect("a short message").to_be_bytes();
        let kind: Vec<u8> = kind.into_iter().collect();
        self.0.write_all(&[&kind, &length[..], body].concat()).expect("PostgreSQL listens");
    }

    /// Reads messages until the server is ready for the next statement; gives the rows among them.
    fn read_to_ready(&mut self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head).expect("PostgreSQL goes on");
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; length - 4];
            self.0.read_exact(&mut body).expect("PostgreSQL goes on");
            match head[0] {
                b'Z' => return rows,
                b'D' => rows.push(columns(&body)),
                b'E' => panic!("PostgreSQL says: {}", String::from_utf8_lossy(&body).replace('\0', " ")),
                b'R' => assert_eq!(body, [0; 4], "PostgreSQL wants a password"),
                _ => {}
            }
        }
    }
}

fn columns(row: &[u8]) -> Vec<String> {
    let mut rest = &row[2..];
    let mut columns = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        // A null has the length -1.
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        columns.push(String::from_utf8_lossy(&after[..length]).into_owned());
        rest = &after[length..];
    }
    columns
}
