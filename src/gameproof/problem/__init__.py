"""What is solved: sets with projections, saddle problems, games with known saddle points."""
