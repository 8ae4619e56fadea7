// A product of two 31-bit numbers is exact as a BigInt alone.
function run(context) {
  const list = [];
  let seed = 1n;
  for (let i = 0; i < 100000; i++) {
    seed = (seed * 1103515245n + 12345n) % 2147483648n;
    list.push(Number(seed));
  }
  list.sort((a, b) => a - b);
  return list[0] + list[49999] + list[99999];
}
