"""What a worker process does: describe the columns of a table, or cluster it; and end if the server is gone."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kfrc_app.server import limits
from kfrc_app.server.folder import remove_own
from kfrc_app.server.workers import end_group

Tell = Callable[[dict[str, Any]], None]


def main() -> None:
    """Serve the process that started this one until it is gone."""
    folder = Path(sys.argv[1])
    _bound_memory()
    at_start = _peak_memory()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is not an answer
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, folder), daemon=True).start()
    lock = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        with lock:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

    from kfrc_app.server import tasks as todo  # slow, and the reason why a worker is kept ready

    last = False
    while not last:
        answer = _done(todo, json.loads(tasks.get()), tell)
        last = _is_large(at_start)
        tell({"end": answer, "last": last})


def _bound_memory() -> None:
    """Let this process run out of memory before the computer does, where that can be said."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        bound = int(limits.MEMORY_SHARE * total)
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (bound if hard < 0 else min(bound, hard), hard))


def _is_large(at_start: int) -> bool:
    """Whether this process once took so much memory that a new one is better: what was freed often stays with it."""
    return _peak_memory() > max(limits.MAX_KEPT_MEMORY, at_start)


def _peak_memory() -> int:
    """Bytes that this process took at most; Linux counts those of the process that started it, too."""
    with suppress(ImportError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 0


def _listen(tasks: queue.SimpleQueue[str], folder: Path) -> None:
    """Pass on what is to be done; at the end of the server, remove its folder and end with all that was started."""
    for line in sys.stdin:
        tasks.put(line)
    remove_own(folder)
    end_group(os.getpid())
    os._exit(1)  # where there are no groups


def _done(todo: Any, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Do it; what goes wrong becomes a sentence."""
    from concurrent.futures.process import BrokenProcessPool

    from kfrc_app.server.problems import ENDED, PageError

    try:
        return dict(todo.TASKS[task["do"]](task, tell))
    except PageError as problem:
        return problem.document
    except MemoryError:
        return {"problem": "This computer has not enough memory for this table: use fewer rows or columns."}
    except BrokenProcessPool:  # one of the processes that check groups on parts of the rows was killed
        return {"problem": ENDED}
    except (ValueError, OSError) as error:  # what the program says in one line, too
        return todo.as_problem(error, task).document
    except Exception:
        return {
            "problem": "Something went wrong that should not have: the window in which the page was started says more.",
            "details": traceback.format_exc(),
        }


if __name__ == "__main__":
    main()
