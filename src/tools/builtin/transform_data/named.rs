//! Templates with names: those that come with luaplan and those of the templates folder.
//!
//! People write them, so they have the whole template language. They are found by name only: a name
//! is letters, digits, `_` and `-`, so no name leads out of the folder, and a link out of it is not
//! followed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use luaplan_base::{ErrorCode, Result, ToolFailure};
use luaplan_catalog::regular_file::read_text;

use super::escape;
use super::format::Format;
use super::formatting;
use super::meter::Exceeded;

const SOURCE_BYTES_MAX: u64 = 256 * 1024;
const NESTING_MAX: usize = 100;

/// The templates that come with luaplan, by file name.
const BUILT_IN: [(&str, &str); 3] = [
    ("summary_email.html.j2", include_str!("templates/summary_email.html.j2")),
    ("summary_email.md.j2", include_str!("templates/summary_email.md.j2")),
    ("summary_email.txt.j2", include_str!("templates/summary_email.txt.j2")),
];

/// Where named templates are looked for.
#[derive(Debug, Clone)]
pub(super) struct NamedTemplates {
    folder: Option<PathBuf>,
}

impl NamedTemplates {
    /// Templates of this folder, before those that come with luaplan.
    ///
    /// # Errors
    /// `config_invalid` where the folder is not there.
    pub(super) fn new(folder: Option<PathBuf>) -> Result<Self> {
        let folder = match folder {
            None => None,
            Some(folder) => {
                Some(folder.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| {
                    luaplan_base::Error::new(
                        ErrorCode::ConfigInvalid,
                        format!(
                            "`tools.transform_data.templates_dir` ({}) is not a folder",
                            folder.display()
                        ),
                    )
                    .with_detail("key", "tools.transform_data.templates_dir")
                    .with_help("make the folder, or correct the path; it is relative to the working folder")
                })?)
            }
        };
        Ok(Self { folder })
    }

    /// The file and format of a name. Without a requested format, the first that the name has.
    ///
    /// # Errors
    /// `template_unknown`, listing what there is.
    pub(super) fn find(
        &self,
        name: &str,
        asked: Option<Format>,
    ) -> std::result::Result<(String, Format), ToolFailure> {
        let formats: Vec<Format> = match asked {
            Some(format) => vec![format],
            None => Format::ALL.to_vec(),
        };
        let plain = format!("{name}.j2");
        let found = formats
            .into_iter()
            .map(|format| (format!("{name}.{}.j2", format.extension()), format))
            .find(|(file, _)| self.has(file))
            .or_else(|| self.has(&plain).then_some((plain, asked.unwrap_or(Format::Text))));
        found.filter(|_| is_name(name)).ok_or_else(|| self.unknown(name, asked))
    }

    fn unknown(&self, name: &str, asked: Option<Format>) -> ToolFailure {
        const NAME_CHARACTERS_SHOWN: usize = 80;
        let shown: String = name.chars().take(NAME_CHARACTERS_SHOWN).collect();
        let form = asked.map_or(String::new(), |format| format!(" for {}", format.name()));
        let files = self.files();
        let known: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".j2")).collect();
        ToolFailure::new(
            ErrorCode::TemplateUnknown,
            format!(
                "there is no template `{}`{form}; there are {}. A template text has `{{{{`, `{{%` or a line break in it",
                shown.escape_debug(),
                known.join(", ")
            ),
        )
    }

    /// Every file there is, sorted.
    fn files(&self) -> BTreeSet<String> {
        let own = self.folder.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        own.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|file| is_file_name(file))
            .chain(BUILT_IN.iter().map(|(file, _)| (*file).to_owned()))
            .collect()
    }

    /// The names that a call may give.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let name = |file: &String| file.split('.').next().unwrap_or_default().to_owned();
        self.files().iter().map(name).collect()
    }

    fn has(&self, file: &str) -> bool {
        matches!(self.read(file), Ok(Some(_)))
    }

    /// A template's text, `None` where there is none of that name.
    fn read(&self, file: &str) -> std::result::Result<Option<String>, Error> {
        if !is_file_name(file) {
            return Ok(None);
        }
        if let Some(text) =
            self.folder.as_deref().map(|folder| read_inside(folder, file)).transpose()?.flatten()
        {
            return Ok(Some(text));
        }
        Ok(BUILT_IN.iter().find(|(name, _)| *name == file).map(|(_, text)| (*text).to_owned()))
    }

    /// Renders a file found before.
    ///
    /// # Errors
    /// Whatever the engine says; the output cap as [`Exceeded`] in its sources.
    pub(super) fn render(
        &self,
        file: &str,
        variables: Value,
        format: Format,
        fuel: u64,
        output_bytes_max: u64,
        neutralise_formulas: bool,
    ) -> std::result::Result<String, Error> {
        let mut environment = Environment::new();
        let templates = self.clone();
        environment.set_loader(move |file| templates.read(file));
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        formatting::add(&mut environment, |_, _| Ok(()));
        environment.set_recursion_limit(NESTING_MAX);
        environment.set_fuel(Some(fuel));
        // The format of the result decides for included files too, whatever their name says.
        environment.set_auto_escape_callback(move |_| format.auto_escape());
        environment.set_formatter(move |out, state, value| {
            escape::write_value(out, state, value, neutralise_formulas)
        });
        let mut output = Capped { bytes: Vec::new(), bytes_max: output_bytes_max };
        environment.get_template(file)?.render_captured_to(variables, &mut output)?;
        String::from_utf8(output.bytes)
            .map_err(|error| Error::new(ErrorKind::WriteFailure, "the result is not text").with_source(error))
    }
}

fn is_name(name: &str) -> bool {
    const NAME_BYTES_MAX: usize = 64;
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_file_name(file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".j2") else { return false };
    match stem.split_once('.') {
        None => is_name(stem),
        Some((name, extension)) => {
            is_name(name) && Format::ALL.iter().any(|format| format.extension() == extension)
        }
    }
}

fn read_inside(folder: &Path, file: &str) -> std::result::Result<Option<String>, Error> {
    let Ok(path) = folder.join(file).canonicalize() else { return Ok(None) };
    let unreadable =
        |reason: String| Error::new(ErrorKind::BadInclude, format!("template `{file}` {reason}"));
    if !path.starts_with(folder) {
        return Err(unreadable("leads out of the templates folder".to_owned()));
    }
    let size_bytes = path.metadata().map_err(|error| unreadable(format!("cannot be read: {error}")))?.len();
    if size_bytes > SOURCE_BYTES_MAX {
        return Err(unreadable(format!("has {size_bytes} bytes, more than {SOURCE_BYTES_MAX}")));
    }
    read_text(&path).map(Some).map_err(|error| unreadable(format!("cannot be read: {error}")))
}

/// A writer that refuses what goes over its cap.
struct Capped {
    bytes: Vec<u8>,
    bytes_max: u64,
}

impl std::io::Write for Capped {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        let observed = (self.bytes.len() + part.len()) as u64;
        if observed > self.bytes_max {
            return Err(std::io::Error::other(Exceeded::Output { limit: self.bytes_max, observed }));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
