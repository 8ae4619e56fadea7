//! Notifications and requests of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

/// Offers a server nothing: no files, no model, no person. Notes that its tools or prompts changed.
#[derive(Clone, Default)]
pub(super) struct Handler {
    changed: Arc<AtomicBool>,
    prompts_changed: Arc<AtomicBool>,
}

impl Handler {
    /// Whether the tools changed since this was last asked.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// Whether the prompts changed since this was last asked.
    pub(super) fn take_prompts_changed(&self) -> bool {
        self.prompts_changed.swap(false, Ordering::AcqRel)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("luaplan", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.prompts_changed.store(true, Ordering::Release);
    }
}
