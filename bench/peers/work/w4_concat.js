function run(context) {
  const piece = "0123456789abcdef".repeat(16);
  let text = "";
  for (let i = 0; i < 4096; i++) {
    text = text + piece;
  }
  return text.length;
}
