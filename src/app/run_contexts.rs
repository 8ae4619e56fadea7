//! The context a run begins with, and the named one it leaves behind.

use super::runs::Run;
use crate::base::{Result, Value};
use crate::journal::{Durability, EventBody, NewContext, check_context_name, context_of_tenant};

impl Run<'_> {
    pub(super) async fn context(&self) -> Result<Value> {
        // Known before anything is done: a bad name could not be saved at the end.
        self.request.context_name.as_deref().map_or(Ok(()), check_context_name)?;
        if let Some(context) = &self.request.context {
            return Ok(context.clone());
        }
        if let Some(name) = &self.request.context_name
            && let Some(saved) = self.app.journal.contexts().load(&self.stored_context(name), None).await?
        {
            return Ok(saved.context);
        }
        Ok(Value::Object(indexmap::IndexMap::new()))
    }

    /// A named context is its tenant's own.
    fn stored_context(&self, name: &str) -> String {
        context_of_tenant(&self.request.circumstances.tenant, name)
    }

    pub(super) async fn save_context(&self, name: &str, value: &Value) -> Result<()> {
        let new = NewContext {
            name: self.stored_context(name),
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
