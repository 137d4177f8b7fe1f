"""The white-box reference: certified saddle points and worst-case distributions."""
