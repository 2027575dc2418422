"""Write the files of the corpus and what they mean: ``python tests/corpus/make.py``.

What a file means is written by hand beside its content, from knowing what the program or the person that makes such files
means by it. It is never what the reader makes of it.
"""

from __future__ import annotations

import habits
import questions
import reports
import sheets
import texts
from entries import FILES, Entry

ENTRIES: list[Entry] = [*texts.ENTRIES, *habits.ENTRIES, *sheets.ENTRIES, *reports.ENTRIES, *questions.ENTRIES]


def main() -> None:
    """Write everything anew; files that are made elsewhere stay."""
    FILES.mkdir(exist_ok=True)
    for entry in ENTRIES:
        entry.write()
    print(f"{len(ENTRIES)} files in {FILES.name}/")


if __name__ == "__main__":
    main()
