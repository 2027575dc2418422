"""Named families: a name belongs to one class, every class brings examples, and texts call it by its label."""

from __future__ import annotations

import pickle

import pytest

import kfrc.clusterers
import kfrc.simulation  # noqa: F401 - these two load all families
from kfrc._registry import Registered
from kfrc.fuzzifiers import Fuzzifier, Power

FAMILIES = [family for family in Registered.__subclasses__() if family.__module__.startswith("kfrc.")]
MEMBERS = [
    pytest.param(cls, id=f"{family.__name__}-{name}") for family in FAMILIES for name, cls in family.registry.items()
]
each_member = pytest.mark.parametrize("cls", MEMBERS)


def colors():
    """A new family with one member."""

    class Color(Registered):
        pass

    class Red(Color, name="red"):
        pass

    return Color, Red


def test_every_family_of_the_library_is_here():
    names = {family.__name__ for family in FAMILIES}
    assert names >= {"Fuzzifier", "Kernel", "Criterion", "Optimizer", "Start", "Judge", "Shape"}


@each_member
def test_every_member_brings_examples_of_itself(cls):
    examples = cls.examples()
    assert examples
    for example in examples:
        assert type(example) is cls
        assert pickle.loads(pickle.dumps(example)) == example, "worker processes receive copies"


@each_member
def test_every_member_is_found_under_its_own_name(cls):
    assert cls.registry[cls.name] is cls
    assert cls.label == cls.name == cls().label
    assert type(cls.resolve(cls.name)) is cls


def test_a_name_is_not_inherited():
    class Mine(Power):
        pass

    assert Mine.name == ""
    assert Mine(m=3.0).label == Mine.label == "Mine"
    assert Fuzzifier.registry["power"] is Power
    with pytest.raises(ValueError, match=r"the range of the Mine fuzzifier"):
        Mine(m=0.5)


def test_a_name_that_another_class_has_is_refused_and_both_are_named():
    Color, Red = colors()
    with pytest.raises(ValueError, match=r"'red' is taken.*colors\.<locals>\.Red.*Crimson needs another") as caught:

        class Crimson(Color, name="red"):
            pass

    assert __name__ in str(caught.value)
    assert Color.registry == {"red": Red}


def test_a_name_of_the_library_cannot_be_taken_over():
    before = dict(Fuzzifier.registry)
    with pytest.raises(ValueError, match=r"'power' is taken.*kfrc\.fuzzifiers\.Power"):

        class Power(Fuzzifier, name="power"):
            pass

    assert Fuzzifier.registry == before


def test_the_same_class_defined_again_replaces_the_first():
    class Color(Registered):
        pass

    def run_the_cell():
        class Red(Color, name="red"):
            pass

        return Red

    first, second = run_the_cell(), run_the_cell()
    assert first is not second
    assert Color.registry == {"red": second}


def test_a_family_has_no_name_and_is_called_by_its_class():
    Color, Red = colors()
    assert (Color.name, Color.label) == ("", "Color")
    assert (Red.name, Red.label) == ("red", "red")
    assert type(Red.examples()[0]) is Red
