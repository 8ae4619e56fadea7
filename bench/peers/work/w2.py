def run(context):
    users = query_db({"table": "users"})
    chosen = []
    for user in users:
        if user["age"] > 30 and len(chosen) < 10:
            chosen.append(user)
    lines = []
    for user in chosen:
        page = fetch_url(user["url"])
        lines.append(user["name"] + " <" + user["email"] + ">: " + str(len(page)) + " bytes")
    body = "\n".join(lines)
    context["receipt"] = send_email("admin@example.com", "User summary", body)
    context["count"] = len(chosen)
    context["body"] = body
    return context

run(context)
