"""Fuzzy relational clustering: the objective J of Equation 1 and its alternating minimization."""

from kfrc.relational.solver import RelationalSolution, Status, solve_relational
from kfrc.relational.starts import Start

__all__ = ["RelationalSolution", "Start", "Status", "solve_relational"]
