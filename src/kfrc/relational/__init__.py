"""Fuzzy relational clustering: the objective J of Equation 1 and its alternating minimization."""

from kfrc.relational.solver import (
    SAME_OBJECTIVE,
    RelationalSolution,
    Status,
    descend,
    evaluate_partition,
    in_order_of_appearance,
    is_uniform,
    may_leave_uniformity,
    order_of_appearance,
    solve_relational,
)
from kfrc.relational.starts import (
    Blocks,
    Given,
    KMeansPlusPlus,
    NearUniform,
    Random,
    Spectral,
    Start,
    draw_memberships,
    resolve_start,
    starting_memberships,
)

__all__ = [
    "SAME_OBJECTIVE",
    "Blocks",
    "Given",
    "KMeansPlusPlus",
    "NearUniform",
    "Random",
    "RelationalSolution",
    "Spectral",
    "Start",
    "Status",
    "descend",
    "draw_memberships",
    "evaluate_partition",
    "in_order_of_appearance",
    "is_uniform",
    "may_leave_uniformity",
    "order_of_appearance",
    "resolve_start",
    "solve_relational",
    "starting_memberships",
]
