"""Numbers in: generators and loaders."""
