def run(context):
    total = 0
    for i in range(1, 10000001):
        total = total + i % 7
    return total

run(context)
