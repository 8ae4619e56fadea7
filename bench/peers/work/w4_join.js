function run(context) {
  const parts = [];
  for (let i = 1; i <= 100000; i++) {
    parts.push("piece " + i);
  }
  return parts.join(",").length;
}
