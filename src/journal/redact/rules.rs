//! Secrets found by their form: keys that providers mark, and patterns of the configuration.

use regex::{Regex, RegexBuilder};

use luaplan_base::{Error, ErrorCode, Result};

/// Forms that hardly match anything but keys. `sk-` counts only at the start of a word.
const FORMS: &str = concat!(
    // Model providers and others with the same prefix; Stripe.
    r"(?-u:\b)(?:sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    // GitHub, GitLab, npm.
    r"|gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36,}",
    // Amazon, Google, Slack.
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)|AIza[A-Za-z0-9_-]{35}|xox[abeoprs]-[A-Za-z0-9-]{10,}",
    // JSON Web Tokens.
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,})",
    // Private keys, whole or cut off.
    r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?s:.)*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----",
    r"|(?:[ \t\r\n]|\\[rn])*[A-Za-z0-9+/=]{40,}(?:(?:[ \t\r\n]|\\[rn])+[A-Za-z0-9+/=]{4,})*)",
);

/// The length of the shortest text that a form matches.
const BYTES_MIN: usize = 20;

/// Bounds of configured patterns.
const PATTERNS_MAX: usize = 50;
const PATTERN_BYTES_MAX: usize = 500;
const COMPILED_BYTES_MAX: usize = 1 << 20;
/// A pattern that matches shorter texts would remove ordinary words.
const FITS_BYTES_MIN: usize = 6;

/// The forms to find.
#[derive(Debug, Clone)]
pub struct SecretForms {
    builtin: Option<Regex>,
    configured: Vec<Regex>,
}

impl SecretForms {
    /// The built-in forms and those of `patterns`, regular expressions of the crate `regex`, which take time linear in
    /// the text. `key` is their configuration key.
    ///
    /// # Errors
    /// `config_invalid` for too many patterns, one that is too long or cannot be parsed, and one that matches texts
    /// shorter than six bytes.
    pub fn new(key: &str, patterns: &[String]) -> Result<Self> {
        if patterns.len() > PATTERNS_MAX {
            let message = format!("{key} has more patterns than it may have");
            return Err(Error::new(ErrorCode::ConfigInvalid, message)
                .with_limit(PATTERNS_MAX, patterns.len())
                .with_detail("key", key));
        }
        let configured = patterns.iter().enumerate().map(|(index, pattern)| {
            compiled(pattern).map_err(|why| {
                let message = format!("{key}[{index}] is no pattern of secrets: {why}");
                Error::new(ErrorCode::ConfigInvalid, message).with_detail("key", key).with_help(
                    "write a regular expression for the secret alone, such as `acme_[A-Za-z0-9]{32}`",
                )
            })
        });
        Ok(Self { builtin: Regex::new(FORMS).ok(), configured: configured.collect::<Result<_>>()? })
    }

    /// The ranges of secrets in `text`.
    pub(super) fn ranges<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
        let builtin = self.builtin.iter().filter(|_| text.len() >= BYTES_MIN);
        let builtin = builtin.flat_map(|forms| forms.find_iter(text)).filter(|found| is_key(found.as_str()));
        let configured = self.configured.iter().flat_map(|pattern| pattern.find_iter(text));
        builtin.chain(configured).filter(|found| !found.is_empty()).map(|found| (found.start(), found.end()))
    }
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("it has {} bytes and may have {PATTERN_BYTES_MAX}", pattern.len()));
    }
    // The parser's message repeats the pattern, which may hold the secret itself.
    let unread = |_| "it is no regular expression".to_owned();
    let shortest = regex_syntax::parse(pattern).map_err(|_| unread(()))?.properties().minimum_len();
    if shortest.is_none_or(|shortest| shortest < FITS_BYTES_MIN) {
        let shortest = shortest.unwrap_or_default();
        return Err(format!("it fits texts of {shortest} bytes, and may fit none below {FITS_BYTES_MIN}"));
    }
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
    builder.build().map_err(|_| "it is too large when it is compiled".to_owned())
}

/// Whether a candidate with a key's prefix also looks random; words joined by hyphens do not.
fn is_key(found: &str) -> bool {
    let Some(rest) = found.strip_prefix("sk-").or_else(|| found.starts_with("xox").then_some(found)) else {
        return true;
    };
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let longest = rest.split(['-', '_']).map(str::len).max().unwrap_or_default();
    let is_mixed = rest.bytes().any(|byte| byte.is_ascii_uppercase())
        && rest.bytes().any(|byte| byte.is_ascii_lowercase());
    digits >= 2 && (found.starts_with("xox") || longest >= 16 || rest.len() >= 40 && is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let forms = SecretForms::new("redact.patterns", &["acme_[a-z0-9]{12}".to_owned()]).unwrap();
        forms.ranges(text).map(|(start, end)| text[start..end].to_owned()).collect()
    }

    #[test]
    fn keys_are_known_by_their_form() {
        let jwt =
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
        let pem = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n-----END EC PRIVATE KEY-----";
        for key in [
            "sk-abcdefghijklmnopqrstuvwx12345678".to_owned(),
            "sk-proj-Ab1-Cd2_Ef3-Gh4_Ij5-Kl6_Mn7-Op8_Qr9-St0".to_owned(),
            "sk-ant-api03-0123456789abcdefghijklmnop".to_owned(),
            format!("ghp_{}", "a1".repeat(18)),
            format!("github_pat_{}", "a1_".repeat(20)),
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            "xoxb-123456789012-abcdefGHIJ".to_owned(),
            jwt.to_owned(),
            pem.to_owned(),
            pem.replace('\n', "\\n"),
            "acme_0123456789ab".to_owned(),
        ] {
            for around in ["KEY", "a KEY b", "key=KEY&x", "\"KEY\"", "(KEY)", "x: KEY\ny"] {
                assert_eq!(found(&around.replace("KEY", &key)), [key.as_str()], "{around}");
            }
        }
        let cut = pem.split("-----END").next().unwrap().trim_end();
        assert_eq!(found(&format!("{cut}\n. And words")), [cut]);
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "the task-force of the risk-averse desk-2024-and-more-words-here",
            "sk-learn-pipelines-for-beginners-part-2-of-2024",
            "a sk-SK locale and ask-me-anything-about-it-2024-01-01",
            "01890a5d-ac96-774b-bcce-b302099a8057",
            "4944f8504000f8d37aa8cb36e4d87dd163567dfd8f6fd65754d422b4a6c433a5",
            "commit 9228e98c1f2a3b4c5d6e7f8091a2b3c4d5e6f708",
            "AKIA and ASIA are prefixes; AKIAIOSFODNN7EXAMPLEMORE is too long",
            "xoxo-love-letters-and-kisses",
            "eyJ is how it begins, eyJhbGciOiJIUzI1NiJ9.is.no token",
            "a line -----BEGIN PRIVATE KEY----- begins one",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
            "github_pat_ and ghp_ are prefixes",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn patterns_of_the_configuration_are_bounded() {
        let refused = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            SecretForms::new("redact.patterns", &patterns).unwrap_err().to_string()
        };
        assert!(refused(&["["]).contains("redact.patterns[0] is no pattern of secrets: it is no regular"));
        assert!(refused(&["acme_[0-9]{8}", ".*"]).contains("redact.patterns[1]"));
        assert!(refused(&["abc"]).contains("it fits texts of 3 bytes"));
        assert!(refused(&["\\w{6}{1000}{1000}"]).contains("too large"));
        assert!(refused(&[&"a".repeat(501)]).contains("it has 501 bytes and may have 500"));
        assert!(refused(&["abcdef"; 51]).contains("(limit 50, seen 51)"));
        // The message does not repeat the pattern.
        assert!(!refused(&["hunter-2222("]).contains("hunter"));
    }
}
