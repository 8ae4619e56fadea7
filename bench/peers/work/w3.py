def run(context):
    total = 0
    for i in range(context["calls"]):
        got = noop({"n": i})
        total = total + got["n"]
    return total

run(context)
