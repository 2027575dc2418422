"""An option that takes the name of one column gets none, or several: told, never an IndexError, never the first."""

from __future__ import annotations

import pytest

from kfrc_app.tables import DataError, read_table


@pytest.fixture
def table(tmp_path):
    """Path of a small table."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,3\n4,5,6\n7,8,1\n2,2,2\n")
    return str(path)


@pytest.mark.parametrize("role", ["label_column", "id_column", "weight_column"])
@pytest.mark.parametrize(
    ("name", "told"), [("", "is blank"), (" ", "is blank"), (",", "is blank"), ("a,b", "2 columns")]
)
def test_a_role_for_one_column_is_refused_with_none_or_several(table, role, name, told):
    with pytest.raises(DataError, match=told):
        read_table(table, **{role: name})
