//! Keys whose names mark their values as secrets.

const SECRET_WORDS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "authorization",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "apikey",
    "bearer",
    "accesskey",
    "privatekey",
];

/// Words that mark a secret only before `key`.
const SECRET_BEFORE_KEY: [&str; 5] = ["api", "access", "private", "signing", "encryption"];

/// Whether a value under the key `name` counts as a secret: `api_key`, `X-Auth-Token`,
/// `dbPassword`; but not `max_tokens` or `primary_key`.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let words = words_of(name);
    words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| pair[1] == "key" && SECRET_BEFORE_KEY.contains(&pair[0].as_str()))
}

pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut after_lowercase = false;
    for character in name.chars() {
        let starts_word = character.is_uppercase() && after_lowercase;
        after_lowercase = character.is_lowercase() || character.is_numeric();
        if !character.is_alphanumeric() || starts_word {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
