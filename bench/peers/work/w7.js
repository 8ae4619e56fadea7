function run(context) {
  while (true) {
  }
}
