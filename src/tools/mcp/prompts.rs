//! Prompts of a server: texts that a user may put before the planner.

use rmcp::model::{ContentBlock, GetPromptResult, Prompt, ResourceContents, Role};
use serde::{Deserialize, Serialize};
use serde_json::json;

use luaplan_base::{ContentHash, ErrorCode, ToolFailure};
use luaplan_catalog::plan_name;

use super::content::canonical;

/// More prompts than this are not taken from one server.
const PROMPTS_MAX: usize = 200;
/// A longer text is not put before a planner.
pub(super) const TEXT_BYTES_MAX: usize = 32 * 1024;
/// The longest description that is kept.
const DESCRIPTION_CHARACTERS_MAX: usize = 500;

/// One prompt, as it was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedPrompt {
    /// The name behind the dot.
    pub name: String,
    /// The server's own name for it.
    pub original: String,
    /// What it is for, in the server's words.
    pub description: String,
    /// Its arguments.
    pub arguments: Vec<AcceptedArgument>,
    /// Of everything above as the server said it.
    pub hash: ContentHash,
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedArgument {
    /// Its name.
    pub name: String,
    /// Whether it is required.
    pub required: bool,
}

/// A tool or a prompt that cannot be taken, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefusedOffer {
    /// The server's own name for it.
    pub original: String,
    /// Why.
    pub reason: String,
}

impl AcceptedPrompt {
    /// The prompts of a server that can be taken, and the others.
    pub(super) fn offered(prompts: &[Prompt]) -> (Vec<Self>, Vec<RefusedOffer>) {
        let (mut taken, mut refused): (Vec<Self>, Vec<RefusedOffer>) = (Vec::new(), Vec::new());
        for prompt in prompts {
            let name = plan_name(&prompt.name);
            let reason = if name.is_empty() {
                "its name has no letter".to_owned()
            } else if taken.len() >= PROMPTS_MAX {
                format!("at most {PROMPTS_MAX} prompts of a server are taken")
            } else if let Some(other) = taken.iter().find(|other| other.name == name) {
                format!("it would be called `{name}`, as the prompt `{}` is", other.original)
            } else {
                taken.push(Self::of(prompt, name));
                continue;
            };
            refused.push(RefusedOffer { original: prompt.name.clone(), reason });
        }
        (taken, refused)
    }

    fn of(prompt: &Prompt, name: String) -> Self {
        let description = prompt.description.as_deref().or(prompt.title.as_deref()).unwrap_or_default();
        let arguments = prompt.arguments.iter().flatten();
        Self {
            name,
            original: prompt.name.clone(),
            description: description.chars().take(DESCRIPTION_CHARACTERS_MAX).collect(),
            arguments: arguments
                .map(|one| AcceptedArgument { name: one.name.clone(), required: one.required == Some(true) })
                .collect(),
            hash: hash_of(prompt),
        }
    }
}

/// The hash of everything the operator sees of the prompt.
pub(super) fn hash_of(prompt: &Prompt) -> ContentHash {
    ContentHash::of_json(&canonical(&json!({
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": prompt.arguments,
    })))
}

/// The messages of a prompt as one text.
///
/// # Errors
/// `mcp_result_invalid` for one that holds more than text, is empty, or is too long.
pub(super) fn text_of(result: &GetPromptResult) -> Result<String, ToolFailure> {
    let invalid = |what: &str| ToolFailure::new(ErrorCode::McpResultInvalid, what);
    let mut texts: Vec<String> = Vec::new();
    for message in &result.messages {
        let text = match &message.content {
            ContentBlock::Text(text) => text.text.as_str(),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                ResourceContents::TextResourceContents { text, .. } => text.as_str(),
                _ => return Err(invalid("the prompt holds a resource that is not text")),
            },
            _ => return Err(invalid("the prompt holds more than text")),
        };
        // Only this note distinguishes the messages' roles.
        let answer = if message.role == Role::Assistant { "(an answer given as an example) " } else { "" };
        texts.push(format!("{answer}{text}"));
    }
    let text = texts.join("\n\n");
    if text.trim().is_empty() {
        return Err(invalid("the prompt is empty"));
    }
    if text.len() > TEXT_BYTES_MAX {
        let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        return Err(invalid(&format!("the prompt has {} bytes, more than {TEXT_BYTES_MAX}", text.len()))
            .with_detail("limit", number(TEXT_BYTES_MAX))
            .with_detail("observed", number(text.len())));
    }
    Ok(text)
}
