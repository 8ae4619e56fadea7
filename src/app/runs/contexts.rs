//! The context a run begins with, and the named one it leaves behind.

use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, Value};
use luaplan_journal::{Durability, EventBody, NewContext, check_context_name, context_of_tenant};

use super::run::Run;
use super::spec::RunSpec;
use crate::App;

impl App {
    /// The context a run starts with: its own, else the latest of the named one, else an empty object.
    ///
    /// # Errors
    /// `bad_request` for a name that cannot be one, and as reading the journal.
    pub(super) async fn starting_context(&self, spec: &RunSpec) -> Result<Value> {
        // Known before anything is done: a bad name could not be saved at the end.
        if let Some(name) = &spec.context_name {
            check_context_name(name)?;
            if self.redactor.finds_in(&Json::String(name.clone())) {
                let message = "the name of the context holds a secret, and names are kept and shown";
                return Err(Error::new(ErrorCode::BadRequest, message).with_help("name it otherwise"));
            }
        }
        if let Some(context) = &spec.context {
            return Ok(context.clone());
        }
        if let Some(name) = &spec.context_name
            && let Some(saved) = self.journal.contexts().load(&stored_context(spec, name), None).await?
        {
            return Ok(saved.context);
        }
        Ok(empty_context())
    }
}

/// What `run` is handed where no context is given.
pub(super) fn empty_context() -> Value {
    Value::Object(indexmap::IndexMap::new())
}

/// A named context is its tenant's own.
fn stored_context(spec: &RunSpec, name: &str) -> String {
    context_of_tenant(&spec.circumstances.tenant, name)
}

impl Run<'_> {
    pub(crate) async fn save_context(&self, name: &str, value: &Value) -> Result<()> {
        // The next run would be given what stands in its place, and not know.
        if self.app.redactor.finds_in(&value.to_exact_json()) {
            let message = format!("the context `{name}` was not saved: what the run returned holds a secret");
            return Err(Error::new(ErrorCode::ContextHoldsSecret, message));
        }
        let new = NewContext {
            name: stored_context(self.spec, name),
            context: value.clone(),
            run_id: Some(self.log.run_id().clone()),
            at: self.log.clock().now(),
            expected_version: None,
        };
        let saved = self.app.journal.contexts().save(new).await?;
        let saved = EventBody::ContextSaved {
            name: name.to_owned(),
            version: saved.version,
            context_hash: saved.hash,
        };
        self.log.emit(saved, Durability::Forced).await
    }
}
