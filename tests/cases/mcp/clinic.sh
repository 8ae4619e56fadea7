# A small MCP server with results as FastMCP and pydantic describe them: definitions, references, wrapped lists.
in='"inputSchema":{"type":"object","properties":{"name":{"type":"string"},"day":{"$ref":"#/$defs/Day"}},"$defs":{"Day":{"enum":["mon","tue"],"type":"string"}}}'
reads='"annotations":{"readOnlyHint":true,"openWorldHint":false}'
defs='"$defs":{
"Person":{"type":"object","title":"Person","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]},
"Kind":{"enum":["visit","call"],"type":"string"},
"Appointment":{"type":"object","title":"Appointment","properties":{"id":{"type":"integer"},"kind":{"$ref":"#/$defs/Kind"},
"patient":{"$ref":"#/$defs/Person"},"doctor":{"anyOf":[{"$ref":"#/$defs/Person"},{"type":"null"}],"default":null},
"minutes":{"type":"integer"},"notes":{"items":{"type":"string"},"type":"array"}},"required":["id","kind","patient","minutes","notes"]},
"Address":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},
"Node":{"type":"object","properties":{"name":{"type":"string"},"parts":{"items":{"$ref":"#/$defs/Node"},"type":"array"}},"required":["name","parts"]}}'
appointments='"items":{"$ref":"#/$defs/Appointment"},"type":"array"'

tool() { printf '{"name":"%s","description":"%s",%s,%s%s}' "$1" "$2" "$in" "$reads" "${3:+,\"outputSchema\":$3}"; }
tools() {
  printf '['
  tool list_appointments "All appointments" "{$defs,\"properties\":{\"result\":{$appointments,\"title\":\"Result\"}},\"required\":[\"result\"],\"type\":\"object\",\"x-fastmcp-wrap-result\":true}"
  printf ','
  tool find_patient "One patient" "{$defs,\"allOf\":[{\"\$ref\":\"#/\$defs/Person\"},{\"properties\":{\"address\":{\"allOf\":[{\"\$ref\":\"#/\$defs/Address\"}]},\"appointments\":{$appointments}},\"required\":[\"address\",\"appointments\"]}],\"type\":\"object\"}"
  printf ','
  tool page "A page of appointments" "{$defs,\"type\":\"object\",\"properties\":{\"items\":{$appointments},\"total\":{\"type\":\"integer\"},\"next\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}},\"required\":[\"items\",\"total\"]}"
  printf ','
  tool count "How many appointments there are" '{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}'
  printf ','
  tool rooms "All rooms" '{"type":"object","properties":{"rooms":{"items":{"type":"object","properties":{"name":{"type":"string"},"beds":{"type":"integer"}},"required":["name","beds"]},"type":"array"}},"required":["rooms"]}'
  printf ','
  tool tree "The departments" "{$defs,\"\$ref\":\"#/\$defs/Node\",\"type\":\"object\"}"
  printf ','
  tool by_day "Appointments by day" "{$defs,\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"object\",\"additionalProperties\":{$appointments}}},\"required\":[\"result\"],\"x-fastmcp-wrap-result\":true}"
  printf ','
  tool untyped "Appointments, without a word about the result"
  printf ','
  tool broken "Fails"
  printf ','
  tool liar "Adds a member" '{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}'
  printf ']'
}

ada='{"id":7,"name":"Ada"}'
one='{"id":1,"kind":"visit","patient":'$ada',"doctor":{"id":3,"name":"Grace"},"minutes":30,"notes":["first","fasting"]}'
two='{"id":2,"kind":"call","patient":{"id":8,"name":"Alan"},"doctor":null,"minutes":15,"notes":[]}'
list="[$one,$two]"

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$(printf '%s' "$2" | tr '\n' ' ')"; }
gives() { printf '{"content":[{"type":"text","text":"see the structured content"}],"structuredContent":%s}' "$1"; }

while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"clinic","version":"1"}}' ;;
    *'"method":"notifications/'*) ;;
    *'"method":"tools/list"'*) answer "$id" "{\"tools\":$(tools)}" ;;
    *'"name":"list_appointments"'*) answer "$id" "$(gives "{\"result\":$list}")" ;;
    *'"name":"find_patient"'*) answer "$id" "$(gives "{\"id\":7,\"name\":\"Ada\",\"address\":{\"city\":\"Bern\"},\"appointments\":[$one]}")" ;;
    *'"name":"page"'*) answer "$id" "$(gives "{\"items\":$list,\"total\":2,\"next\":null}")" ;;
    *'"name":"count"'*) answer "$id" "$(gives '{"result":2}')" ;;
    *'"name":"rooms"'*) answer "$id" "$(gives '{"rooms":[{"name":"A","beds":2},{"name":"B","beds":3}]}')" ;;
    *'"name":"tree"'*) answer "$id" "$(gives '{"name":"all","parts":[{"name":"eye","parts":[]},{"name":"ear","parts":[]}]}')" ;;
    *'"name":"by_day"'*) answer "$id" "$(gives "{\"result\":{\"mon\":[$one],\"tue\":[$two]}}")" ;;
    *'"name":"untyped"'*) answer "$id" "$(gives "{\"result\":$list}")" ;;
    *'"name":"liar"'*) answer "$id" "$(gives '{"result":1,"more":2}')" ;;
    *) answer "$id" '{"isError":true,"content":[{"type":"text","text":"out of order"}]}' ;;
  esac
done
