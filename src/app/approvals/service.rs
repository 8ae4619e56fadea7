//! What people decide about calls, and what the policy file says of them. It starts and resumes no run.

use std::sync::Arc;

use crate::config::Config;
use crate::history::History;
use crate::plans::check::Plans;
use crate::tools::toolbox::Toolbox;

/// Requests for approval, grants, and the policy behind them. Cheap to clone.
#[derive(Clone)]
pub struct Approvals {
    pub(crate) config: Arc<Config>,
    pub(crate) history: History,
    pub(crate) tools: Toolbox,
    pub(crate) plans: Plans,
}
