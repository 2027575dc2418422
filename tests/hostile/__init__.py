"""The attack on the library and the program: tries that are made from a seed, and what must hold for each of them."""
