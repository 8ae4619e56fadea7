def run(context):
    while True:
        pass

run(context)
