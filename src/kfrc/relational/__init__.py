"""Fuzzy relational clustering: the objective J of Equation 1 and its alternating minimization."""

from kfrc.relational.acceleration import USUAL_MEMORY, Anderson
from kfrc.relational.race import race
from kfrc.relational.sizes import SizedEntropy, sized_rule
from kfrc.relational.solver import (
    CENTER_TOL,
    DESCENT_TOL,
    SAME_OBJECTIVE,
    RelationalSolution,
    Status,
    descend,
    evaluate_partition,
    in_order,
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
    "CENTER_TOL",
    "DESCENT_TOL",
    "SAME_OBJECTIVE",
    "USUAL_MEMORY",
    "Anderson",
    "Blocks",
    "Given",
    "KMeansPlusPlus",
    "NearUniform",
    "Random",
    "RelationalSolution",
    "SizedEntropy",
    "Spectral",
    "Start",
    "Status",
    "descend",
    "draw_memberships",
    "evaluate_partition",
    "in_order",
    "in_order_of_appearance",
    "is_uniform",
    "may_leave_uniformity",
    "order_of_appearance",
    "race",
    "resolve_start",
    "sized_rule",
    "solve_relational",
    "starting_memberships",
]
