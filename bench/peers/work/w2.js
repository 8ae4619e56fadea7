function run(context) {
  const users = query_db({ table: "users" });
  const chosen = [];
  for (const user of users) {
    if (user.age > 30 && chosen.length < 10) {
      chosen.push(user);
    }
  }
  const lines = [];
  for (const user of chosen) {
    const page = fetch_url(user.url);
    lines.push(user.name + " <" + user.email + ">: " + page.length + " bytes");
  }
  const body = lines.join("\n");
  context.receipt = send_email("admin@example.com", "User summary", body);
  context.count = chosen.length;
  context.body = body;
  return context;
}
