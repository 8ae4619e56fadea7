def run(context):
    items = []
    seed = 1
    for i in range(100000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        items.append(seed)
    items = sorted(items)
    return items[0] + items[49999] + items[99999]

run(context)
