"""A preload of a Dask scheduler: work stealing forgets workers that are gone, which it does not do by itself.

Dask keeps a worker in ``in_flight_tasks`` for ever once tasks have been balanced, and the worker keeps the tasks that
it was running when it died, with their data. Nothing else is changed, so that a soak sees what else grows.
"""

from __future__ import annotations

from distributed import SchedulerPlugin


class Forgetting(SchedulerPlugin):
    """Removes workers that are gone."""

    def remove_worker(self, scheduler, worker, **_):
        stealing = scheduler.extensions["stealing"]
        for kept in (stealing.in_flight_occupancy, stealing.in_flight_tasks):
            for state in [state for state in kept if scheduler.workers.get(state.address) is not state]:
                del kept[state]


def dask_setup(scheduler):
    """Called by ``dask scheduler``."""
    scheduler.add_plugin(Forgetting())
