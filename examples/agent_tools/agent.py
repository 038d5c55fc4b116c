"""An agent that books meeting rooms: a few rules stand in for the model that would plan, the tools are real functions.

`answer` is the suite's subject. It gets the task as a dict, and gives the answer with everything that happened on the
way: the conversation with its tool calls and results, and the list of calls.
"""

import re

ROOMS = {"Birch": 4, "Maple": 8, "Cedar": 20}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
WORDS = {"two": 2, "three": 3, "six": 6, "ten": 10, "forty": 40}
TAKEN = {("Maple", "Tuesday")}


def find_rooms(seats):
    """The rooms that seat so many, the smallest first."""
    return [f"{name} ({size} seats)" for name, size in ROOMS.items() if size >= seats]


def book_room(room, day):
    """Book a room; a room that is taken is an error."""
    if (room, day) in TAKEN:
        raise LookupError(f"{room} is taken on {day}")
    return f"{room} is booked for {day}"


def cancel_booking(booking):
    """Cancel a booking by its number."""
    return f"booking {booking} is cancelled"


TOOLS = {tool.__name__: tool for tool in (find_rooms, book_room, cancel_booking)}


class Session:
    """Calls tools, and remembers every call with its result."""

    def __init__(self):
        self.messages, self.calls = [], []

    def call(self, name, **arguments):
        """What the tool gives, and whether it worked."""
        number = f"call-{len(self.calls) + 1}"
        try:
            result, failed = TOOLS[name](**arguments), False
        except LookupError as error:
            result, failed = str(error), True
        text = (", ".join(result) or "at most 20 seats in a room") if isinstance(result, list) else result
        asked = {"type": "tool_call", "id": number, "name": name, "arguments": arguments}
        told = {"type": "tool_result", "tool_call_id": number, "content": text, "failed": failed}
        self.messages += [{"role": "assistant", "content": [asked]}, {"role": "tool", "content": [told]}]
        self.calls.append({"name": name, "arguments": arguments, "failed": failed})
        return result, failed


def answer(task):
    """The subject of the suite."""
    session = Session()
    said = " ".join(part["content"] for part in task["messages"] if part["role"] == "user")
    output = plan(said, session)
    return {"output": output, "messages": session.messages, "tool_calls": session.calls, "cost_usd": 0}


def plan(said, session):
    """What to do, by the words that the user said; the newest count."""
    if "cancel" in said.lower():
        number = re.findall(r"B-\d+", said)[-1]
        session.call("cancel_booking", booking=number)
        return f"Booking {number} is cancelled."
    seats = [int(word) if word.isdigit() else WORDS[word] for word in re.findall(r"\d+|" + "|".join(WORDS), said)]
    days = [word for word in re.findall(r"\w+", said) if word in DAYS]
    if not seats:
        return "For how many people?"
    found, _ = session.call("find_rooms", seats=seats[-1])
    if not found:
        return "At most 20 seats are in a room, so nothing is booked."
    if not days:
        return f"These rooms seat {seats[-1]} or more: {', '.join(found)}. Nothing is booked yet."
    return book_first(found, days[-1], session)


def book_first(found, day, session):
    """Book the first room that is free."""
    for room in (entry.split()[0] for entry in found):
        _, failed = session.call("book_room", room=room, day=day)
        if not failed:
            return f"{room} is booked for {day}. It seats {ROOMS[room]}."
    return f"All rooms of that size are taken on {day}, so nothing is booked."
