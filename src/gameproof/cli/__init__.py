"""The command ``gameproof``: one module for each subcommand. They parse, call and print."""
