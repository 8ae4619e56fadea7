-- error: tool_error_used
return text.upper(fail())
