"""How much the page takes at once; every bound keeps one mistake from filling the disk or the memory."""

from __future__ import annotations

MEGABYTE = 1_000_000

MAX_UPLOAD = 250 * MEGABYTE
"""Bytes of one file. A table of 10⁵ rows and 20 columns has about 20 megabytes."""

MAX_KEPT_BYTES = 1000 * MEGABYTE
"""Bytes of all tables that are kept."""

MAX_KEPT_TABLES = 20
"""Files that are kept: the ones that were not used for longest go first."""

MAX_RECEIVING = 4
"""Files that are received at the same time."""

ASKING_SECONDS = 10.0
"""A connection that has not asked for anything in that time is closed. The page asks as soon as it connects."""

MAX_STRANGERS = 50
"""Connections on which nothing has been asked with the token; beyond that, the oldest is closed."""

STRANGER_SECONDS = 0.2
"""A connection has that long to ask with the token, however many there are: programs ask as soon as they connect."""

RECEIVING_SECONDS = 60.0
"""A file of which nothing comes in for so long is given up. It comes from a disk of this computer, or of one nearby."""

MAX_READING = 2
"""Files whose columns are described at the same time; others wait."""

MAX_RUNNING = 2
"""Tables that are worked on at the same time. Each takes about one processor while it looks for groups, and all of
them while it checks large ones on parts of the rows: two at once then share the processors."""

MAX_WAITING = 20
"""Tables that wait for their turn."""

MAX_KEPT_RUNS = 20
"""Results that are kept: the oldest go first."""

MAX_RESULT_BYTES = 1000 * MEGABYTE
"""Bytes of all results that are kept; the newest one is, whatever its size."""

IDLE_SECONDS = 8 * 3600.0
"""A table, with its results, that nobody looked at for a working day is removed."""

SWEEPING_SECONDS = 600.0
"""How often that is looked after."""

READING_SECONDS = 180.0
"""Reading a file takes seconds; one that takes longer than this is not what it seems."""

MAX_CHOICES = 4 * MEGABYTE
"""Bytes of what a page says of the columns: a few hundred for each."""

MAX_LISTED_COLUMNS = 2000
"""Columns that the page lists."""

MAX_EXAMPLES = 3
"""Different values that are shown of a column."""

MAX_VALUE = 40
"""Characters of such a value."""

MAX_NAME = 120
"""Characters of the name of a column that are shown."""

MAX_KEPT_MEMORY = 1000 * MEGABYTE
"""Bytes that a process may have taken to be kept ready for more; reading an ordinary table takes a third."""

MEMORY_SHARE = 0.9
"""Of the memory of the computer that one process of ours may take: it stops with a message before everything stops."""
