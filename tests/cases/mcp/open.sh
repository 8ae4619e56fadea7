# A small MCP server whose tools declare no results. $1 is a folder: a call of NAME is answered with the result in NAME.json,
# and its name is appended to `called`.
notes=$1
none='"inputSchema":{"type":"object","properties":{}}'
reads='"annotations":{"readOnlyHint":true}'

tools() {
  printf '['
  for name in visits scores report odd fails; do
    printf '{"name":"%s","description":"Tells of %s",%s,%s},' "$name" "$name" "$none" "$reads"
  done
  printf '{"name":"find","description":"Finds one","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},%s},' "$reads"
  printf '{"name":"told","description":"Declares it",%s,%s,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},' "$none" "$reads"
  printf '{"name":"clear","description":"Clears",%s,"annotations":{"readOnlyHint":false}},' "$none"
  printf '{"name":"unsaid","description":"Says nothing of itself",%s}]' "$none"
}

while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"open","version":"1"}}}\n' "$id" ;;
    *'"method":"notifications/'*) ;;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}\n' "$id" "$(tools)" ;;
    *'"method":"tools/call"'*)
      name=${line#*\"name\":\"}
      name=${name%%\"*}
      echo "$name" >> "$notes/called"
      printf '{"jsonrpc":"2.0","id":%s,"result":' "$id"
      cat "$notes/$name.json"
      printf '}\n' ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not known"}}\n' "$id" ;;
  esac
done
