//! What a build without a driver says of each database that needs it.

use std::path::Path;
use std::time::Duration;

use super::super::database::Database;
use super::super::settings::{DatabaseUrl, QueryDbSettings};

#[test]
fn a_driver_that_is_not_built_is_named() {
    let absent = [
        (cfg!(feature = "mysql"), "mysql://u:pw@h/d", "mysql"),
        (cfg!(feature = "mysql"), "mariadb://u:pw@h/d", "mysql"),
        (cfg!(feature = "postgres"), "postgres://u:pw@h/d", "postgres"),
    ];
    for (_, url, feature) in absent.into_iter().filter(|(is_built, ..)| !is_built) {
        let (url, settings) = (DatabaseUrl::new(url.to_owned()), QueryDbSettings::default());
        let error = Database::new("main", &url, &settings, Duration::from_secs(1), Path::new("."))
            .err()
            .expect("a refusal");
        assert_eq!(error.code().as_str(), "config_invalid");
        assert!(error.to_string().contains("this build of luaplan has no driver"), "{error}");
        assert!(error.help().contains(&format!("`{feature}`")), "{error:?}");
    }
}
