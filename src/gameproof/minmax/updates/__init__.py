"""How estimates become a step, one file each."""
