"""Heavy-ball momentum: an update of a user's own, with an array of its own."""

from typing import Any

import gameproof as gp


class Momentum(gp.Update):
    name, arrays = "momentum", ("velocity",)

    def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
        arrays["velocity"] *= 0.5
        arrays["velocity"] += estimates.new
        return arrays["velocity"]
