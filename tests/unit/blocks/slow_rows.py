"""A source that takes its time, importable by workers: so that something can happen in the middle of a pass."""

import time

from kfrc.sources import ParquetSource


class SlowRows(ParquetSource):
    """Parquet files that are read slowly."""

    delay = 0.1

    def chunks(self, start, stop):
        """Rows, a little later."""
        time.sleep(self.delay)
        yield from super().chunks(start, stop)


class MortalRows(ParquetSource):
    """Parquet files in which one stretch of rows kills whoever reads it."""

    fatal = 1 << 16

    def chunks(self, start, stop):
        """Rows, unless the fatal one is among them and this is a worker."""
        import os

        if start <= self.fatal < stop and stop - start > 4096 and os.environ.get("KFRC_MORTAL") == "1":
            os.kill(os.getpid(), 9)
        yield from super().chunks(start, stop)
