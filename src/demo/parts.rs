//! All parts: a database file with users, their pictures, and a mailbox.

use std::path::{Path, PathBuf};

use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use toml::Value as Toml;

use luaplan_base::{Error, ErrorCode, Result};

use super::{PictureServer, ReceivedMail, SmtpSink, SmtpSinkOptions};

/// The recipient of the demo's mail, and the only one allowed.
pub const RECIPIENT: &str = "admin@company.com";

/// Sample ages: four of the six users are over thirty.
const AGES: [i64; 6] = [24, 31, 45, 29, 52, 38];

/// Running demo parts. Dropping them stops them.
#[derive(Debug)]
pub struct DemoParts {
    /// The SQLite file.
    pub database: PathBuf,
    /// Serves the users' pictures.
    pub pictures: PictureServer,
    /// Receives mail.
    pub mail: SmtpSink,
}

impl DemoParts {
    /// Makes a new database in `folder`, and starts both servers on free loopback ports.
    ///
    /// # Errors
    /// `file_unreadable` where the folder cannot be written, `listen_failed` where no port is free.
    pub async fn start(folder: &Path) -> Result<Self> {
        let cannot = |error: &dyn std::fmt::Display| {
            Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| cannot(&error))?;
        let pictures = PictureServer::start().await?;
        let mail = SmtpSink::start(SmtpSinkOptions::new(folder.join("mail"))).await?;
        let database = folder.join("users.db");
        match std::fs::remove_file(&database) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot(&error)),
            _ => {}
        }
        fill(&database, &pictures.urls()).await.map_err(|error| cannot(&error))?;
        Ok(Self { database, pictures, mail })
    }

    /// Configuration that points the tools at these parts, and at nothing else.
    #[must_use]
    pub fn configuration(&self) -> Vec<(String, Toml)> {
        let text = |text: String| Toml::String(text);
        let list = |items: Vec<String>| Toml::Array(items.into_iter().map(Toml::String).collect());
        let databases = toml::Table::from_iter([(
            "main".to_owned(),
            text(format!("sqlite:{}", self.database.display())),
        )]);
        vec![
            ("tools.query_db.databases".into(), Toml::Table(databases)),
            ("tools.fetch_url.allow_hosts".into(), list(vec![self.pictures.addr().to_string()])),
            ("tools.send_email.smtp".into(), text(format!("smtp://{}", self.mail.addr()))),
            ("tools.send_email.from".into(), text("luaplan@company.com".into())),
            ("tools.send_email.allow_recipients".into(), list(vec![RECIPIENT.into()])),
        ]
    }

    /// The mail received so far, oldest first.
    #[must_use]
    pub fn received(&self) -> Vec<ReceivedMail> {
        self.mail.messages()
    }

    /// Stops both servers.
    pub async fn stop(self) {
        self.mail.stop().await;
        self.pictures.stop().await;
    }
}

async fn fill(database: &Path, picture_urls: &[String]) -> std::result::Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(database).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    sqlx::query(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, \
         email TEXT NOT NULL, profile_image_url TEXT NOT NULL)",
    )
    .execute(&mut connection)
    .await?;
    for (index, (url, age)) in picture_urls.iter().zip(AGES).enumerate() {
        let number = index + 1;
        sqlx::query("INSERT INTO users (name, age, email, profile_image_url) VALUES (?, ?, ?, ?)")
            .bind(format!("User {number}"))
            .bind(age)
            .bind(format!("user{number}@example.com"))
            .bind(url)
            .execute(&mut connection)
            .await?;
    }
    connection.close().await
}
