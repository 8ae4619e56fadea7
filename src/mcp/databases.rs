//! What databases hold, as a tool and as resources: as `luaplan tools describe` tells it.

use rmcp::model::{CallToolResult, ErrorData, ReadResourceResult, Resource, ResourceContents};
use serde_json::json;

use luaplan_base::Result;
use luaplan_catalog::ToolKind;

use super::arguments::DescribeDatabases;
use super::caller::Context;
use super::server::McpServer;

/// The tool whose databases are meant where none is named.
const DEFAULT_TOOL: &str = "query_db";
/// `luaplan://databases/TOOL`
const ADDRESS: &str = "luaplan://databases/";

impl McpServer {
    pub(super) async fn describe_databases(
        &self,
        args: DescribeDatabases,
        context: &Context,
    ) -> Result<CallToolResult> {
        let tool = args.tool.as_deref().unwrap_or(DEFAULT_TOOL);
        let mut told = self.app().tools().described(tool).await?;
        told["tool"] = json!(tool);
        self.from(told, (args.path, args.offset), context)
    }

    /// One resource for each tool that reads databases.
    pub(super) fn database_resources(&self) -> Vec<Resource> {
        let catalog = self.app().tools().usable();
        let reads = catalog.iter().filter(|spec| spec.kind == ToolKind::Sql || spec.name == DEFAULT_TOOL);
        reads
            .map(|spec| {
                let mut resource =
                    Resource::new(format!("{ADDRESS}{}", spec.name), format!("databases of {}", spec.name));
                resource.description = Some("Tables, columns, keys and enumerations, never rows.".to_owned());
                resource.mime_type = Some("application/json".to_owned());
                resource
            })
            .collect()
    }

    /// # Errors
    /// `resource_not_found` for another address, or a tool that there is not.
    pub(super) async fn read_databases(
        &self,
        uri: &str,
    ) -> std::result::Result<ReadResourceResult, ErrorData> {
        let missing = || {
            self.without_secrets(ErrorData::resource_not_found(format!("there is no resource {uri}"), None))
        };
        let resource =
            self.database_resources().into_iter().find(|resource| resource.uri == uri).ok_or_else(missing)?;
        let tool = resource.uri.strip_prefix(ADDRESS).ok_or_else(missing)?;
        let mut told = self.app().tools().described(tool).await.map_err(|_| missing())?;
        self.app().history().redactor().document(&mut told);
        let text = serde_json::to_string_pretty(&told).unwrap_or_default();
        let mut contents = ResourceContents::text(text, uri);
        if let ResourceContents::TextResourceContents { mime_type, .. } = &mut contents {
            *mime_type = Some("application/json".to_owned());
        }
        Ok(ReadResourceResult::new(vec![contents]))
    }
}
