"""Functions that the assertion `python` asks. Each gets the context, and the assertion's `arguments` by keyword."""


def is_short(context, words=20):
    """True or false: pass or fail."""
    return len(context.output.split()) <= words


def share_of_known_words(context, known=()):
    """A number from 0 to 100, held against the assertion's threshold."""
    words = [word.strip(".,!?").lower() for word in context.output.split()]
    found = sum(word in known for word in words)
    return {"score": 100 * found / len(words), "reason": f"{found} of {len(words)} words are known"}
