//! What calls return teaches the shape of results, for the tenant of the run alone.

use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::{CallOutcome, CallRequest};
use luaplan_bus::{CallHandler, Interruption};
use luaplan_journal::Redactor;

use crate::tools::toolbox::Toolbox;

/// Looks at the results of real calls on their way to the plan.
pub(crate) struct Learning {
    pub(crate) calls: Arc<dyn CallHandler>,
    pub(crate) tools: Toolbox,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) tenant: String,
}

#[async_trait]
impl CallHandler for Learning {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let names: Vec<String> = calls.iter().map(|call| call.tool.clone()).collect();
        let outcomes = self.calls.answer(calls).await?;
        for (name, outcome) in names.iter().zip(&outcomes) {
            let (Some(spec), Ok(result)) = (self.tools.catalog.get(name), outcome) else { continue };
            if self.tools.seen.learns(spec) {
                // A secret may stand in a key.
                let result = self.redactor.value(result.clone());
                self.tools.seen.learn(&self.tenant, spec, &result);
            }
        }
        Ok(outcomes)
    }
}
