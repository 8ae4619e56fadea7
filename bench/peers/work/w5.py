def run(context):
    if context["orders"][1999]["items"][5]["quantity"] != 6:
        return None
    return context

run(context)
