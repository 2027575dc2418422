"""A table for those who want to see the page at work before they give it one of their own."""

from __future__ import annotations

from functools import cache

NAME = "wines.csv"


@cache
def example_table() -> bytes:
    """178 wines by 13 measurements, with the variety of the grape as known groups, as CSV.

    Examples
    --------
    >>> from kfrc_app.server.example import example_table
    >>> example_table().splitlines()[0][:33]
    b'wine,alcohol,malic acid,ash,alcal'
    """
    import pandas as pd

    from kfrc.datasets import load_benchmark

    wine = load_benchmark("wine")
    frame = pd.DataFrame(wine.data, columns=[name.replace("_", " ") for name in wine.feature_names])
    frame.insert(0, "wine", [f"wine {k + 1}" for k in range(len(frame))])
    frame["grape"] = [f"variety {label}" for label in wine.target]
    return frame.to_csv(index=False, lineterminator="\n").encode()
