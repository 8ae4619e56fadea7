# A small MCP server with one tool, `echo`, that answers as the tools of other kinds do.
while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"echo","description":"Does what the test needs.","inputSchema":{"type":"object","additionalProperties":false,"properties":{"sql":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[],"structuredContent":[{"said":"x"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
