"""The ten tasks: their words, the servers they need, and the files they find."""

import os


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def files(folder):
    """The same files every time."""
    for number in range(1, 13):
        lines = [f"Note {number}: customer {number * 7 % 5} called about order {1000 + number}."]
        lines += [f"TODO: answer question {number}.{extra}" for extra in range(number % 4)]
        lines += ["They asked for a later date.", "The price was fine."]
        write(folder, f"notes/note{number:02}.txt", "\n".join(lines) + "\n")
    for number in range(1, 9):
        write(folder, f"inbox/scan{number}.tmp", f"page {number}\n" * number)
    customers = ["Acme", "Bolt", "Crane", "Dale", "Elm"]
    rows = ["order,customer,amount"]
    rows += [f"{2000 + n},{customers[n * 3 % 5]},{(n * 37) % 400 + 10}" for n in range(120)]
    write(folder, "orders.csv", "\n".join(rows) + "\n")
    kinds = ["disk is full", "connection refused", "no such user", "timeout"]
    log = []
    for n in range(300):
        level = "ERROR" if n % 6 == 0 else "INFO"
        said = kinds[[0, 0, 1, 0, 2, 1, 3, 0, 1][n // 6 % 9]] if level == "ERROR" else f"request {n} took {n % 90} ms"
        log.append(f"2026-11-{n // 24 + 1:02} 12:{n % 60:02}:00 {level} {said}")
    write(folder, "app.log", "\n".join(log) + "\n")
    people = [("Ann", "Acme", "engineer"), ("Ben", "Bolt", "buyer"), ("Cid", "Acme", "clerk"), ("Dee", "Crane", "lawyer")]
    people += [("Eve", "Bolt", "driver"), ("Fay", "Dale", "manager")]
    write(folder, "people.txt", "\n".join(";".join(person) for person in people) + "\n")


TASKS = [
    ("todos", ["files"],
     "Count the lines that begin with TODO in each note of {folder}/notes, write the counts, largest first, to "
     "{folder}/todos.md, and give the total."),
    ("rename", ["files"],
     "Rename every .tmp file in {folder}/inbox to .txt, and give the new names."),
    ("totals", ["files"],
     "Add up the amounts in {folder}/orders.csv by customer, write a Markdown table of it to {folder}/totals.md, and give "
     "the customer with the largest sum."),
    ("errors", ["files"],
     "Which error stands in {folder}/app.log most often, and how often? Give the three most frequent."),
    ("largest", ["files"],
     "Give the three largest files of {folder}/inbox and {folder}/notes together, with their sizes in bytes."),
    ("people", ["files", "memory"],
     "Put the people of {folder}/people.txt (name;company;job) into the knowledge graph: an entity for each person and "
     "company, and works_at between them. Give how many of each were made."),
    ("look_up", ["memory"],
     "For each of Ann, Ben, Cid, Dee, Eve, Fay and Gus look whether the knowledge graph knows them, and add the observation "
     "\"invited\" to those it knows. Give who was invited and who is not known."),
    ("sums", ["everything"],
     "With the sum tool, add up the numbers 3, 14, 15, 92, 65, 35, 89 and 79, two at a time, and give the total."),
    ("echo", ["everything"],
     "Echo the sum of 12 and 30, as the sum tool gives it."),
    ("think", ["thinking"],
     "Think in three steps about whether a shop should answer mail on Sundays, and give how many thoughts were recorded."),
]
