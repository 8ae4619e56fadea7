//! PostgreSQL databases of a test's own.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use crate::support::Part;

/// A database that is there as long as this.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// A new, empty one; `None`, said aloud, where no server is given.
    pub(crate) async fn new(what: &str) -> Option<Self> {
        Some(Self::at(Part::Postgres.place(what)?).await)
    }

    /// A new, empty one on this server.
    pub(crate) async fn at(server: String) -> Self {
        let name = format!("luaplan_{}", luaplan::base::RunId::generate().as_str().replace('-', "_"));
        let mut connection = PgConnection::connect(&server).await.unwrap();
        connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
        Self { server, name }
    }

    pub(crate) fn url(&self) -> String {
        let mut url = url::Url::parse(&self.server).unwrap();
        url.set_path(&self.name);
        url.to_string()
    }

    /// Configuration that keeps the journal there.
    pub(crate) fn configuration(&self) -> Vec<(String, toml::Value)> {
        vec![("store".to_owned(), "postgres".into()), ("journal.url".to_owned(), self.url().into())]
    }

    /// A connection past all guards, as the database's owner has.
    pub(crate) async fn raw(&self) -> PgConnection {
        let mut connection = PgConnection::connect(&self.url()).await.unwrap();
        connection.execute("SET search_path = luaplan").await.unwrap();
        connection
    }

    /// Every node's lease has run out, by the database's clock.
    pub(crate) async fn let_leases_run_out(&self) {
        self.raw().await.execute("UPDATE nodes SET expires_at = '-infinity'").await.unwrap();
    }

    /// Cuts the connections of luaplan to this database; says how many there were.
    pub(crate) async fn cut_connections(&self) -> i64 {
        let mut connection = PgConnection::connect(&self.server).await.unwrap();
        sqlx::query_scalar(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = $1 AND application_name = 'luaplan'",
        )
        .bind(&self.name)
        .fetch_one(&mut connection)
        .await
        .unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A test's runtime may not wait here.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut connection = PgConnection::connect(&server).await.unwrap();
                let sql = format!("DROP DATABASE {name} WITH (FORCE)");
                connection.execute(AssertSqlSafe(sql)).await.unwrap();
            });
        });
        if dropping.join().is_err() && !std::thread::panicking() {
            panic!("the database {} was left behind", self.name);
        }
    }
}
