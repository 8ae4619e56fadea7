def run(context):
    parts = []
    for i in range(1, 100001):
        parts.append("piece " + str(i))
    return len(",".join(parts))

run(context)
