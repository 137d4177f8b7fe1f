"""The order in which samples are visited, one file each. An epoch is n samples in each of them."""
