"""Ways to climb: the paper's momentum ascent, and a quasi-Newton search that needs far fewer evaluations."""
