"""Servers of this study for protocols whose libraries come without one. Each accepts messages, keeps the last one and acknowledges."""

import sys
import threading
from collections.abc import Callable


def answer(last: Callable[[], bytes]) -> None:
    """Says that the server listens, and answers each line of the standard input with the last message as hexadecimal digits."""
    print("ready", flush=True)
    for _ in sys.stdin:
        print(last().hex(), flush=True)


def answer_in_thread(last: Callable[[], bytes]) -> None:
    """`answer` beside an event loop."""
    threading.Thread(target=answer, args=(last,), daemon=True).start()
