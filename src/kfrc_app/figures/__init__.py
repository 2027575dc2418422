"""The figures of the paper, one file each: ``draw(...) -> Figure``."""

from kfrc_app.figures.gallery import draw_figures, draw_summary_figures

__all__ = ["draw_figures", "draw_summary_figures"]
