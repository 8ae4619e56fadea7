function run(context) {
  let sum = 0;
  for (let i = 1; i <= 10000000; i++) {
    sum = sum + i % 7;
  }
  return sum;
}
