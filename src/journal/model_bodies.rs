//! Whole prompts and answers as files, where somebody who looks for a fault wants them. Records have their hashes.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use luaplan_base::{RunId, SpanId};

use super::create_private_folder;

/// A folder with a folder for each run, and in it two files for each request to a model, named after its span:
/// `SPAN.prompt.json` (the messages, each with `role` and `text`) and `SPAN.answer.txt`. Only the user can read them, and
/// luaplan never removes them.
#[derive(Debug, Clone)]
pub(crate) struct ModelBodies {
    folder: PathBuf,
}

impl ModelBodies {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// A request is not failed by a file that helps to look at it, so the log alone tells of one that cannot be written.
    pub(crate) async fn keep(&self, run_id: &RunId, span: &SpanId, body: ModelBody) {
        let folder = self.folder.join(run_id.as_str());
        let path = folder.join(format!("{span}.{}", body.ending()));
        let written = tokio::task::spawn_blocking(move || write(&folder, &path, &body));
        let written = written.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        if let Err(error) = written {
            tracing::warn!(%run_id, %error, "a prompt or an answer of a model could not be written to its file");
        }
    }
}

/// What is kept of a request, without secrets.
#[derive(Debug)]
pub enum ModelBody {
    /// The messages sent.
    Prompt(Json),
    /// The text that came back.
    Answer(String),
}

impl ModelBody {
    const fn ending(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "prompt.json",
            Self::Answer(_) => "answer.txt",
        }
    }
}

fn write(folder: &Path, path: &Path, body: &ModelBody) -> io::Result<()> {
    create_private_folder(folder)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    match body {
        ModelBody::Prompt(messages) => serde_json::to_writer_pretty(&mut file, messages)?,
        ModelBody::Answer(text) => file.write_all(text.as_bytes())?,
    }
    Ok(())
}
