"""Studies with real people: durable, concurrent, and the same to the bit after any crash."""
