"""A soak: the page and a Dask fit under load for a while, with processes killed at random."""
