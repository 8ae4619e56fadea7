def run(context):
    piece = "0123456789abcdef" * 16
    text = ""
    for i in range(4096):
        text = text + piece
    return len(text)

run(context)
