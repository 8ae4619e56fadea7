function run(context) {
  if (context.orders[1999].items[5].quantity !== 6) return null;
  return context;
}
