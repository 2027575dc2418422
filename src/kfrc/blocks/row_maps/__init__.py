"""From rows to squared distances and back to centers, block by block."""

from kfrc.blocks.row_maps.base import BlockCenters, RowMap
from kfrc.blocks.row_maps.columns import ColumnMap, numbers_only
from kfrc.blocks.row_maps.points import PointMap

__all__ = ["BlockCenters", "ColumnMap", "PointMap", "RowMap", "numbers_only"]
