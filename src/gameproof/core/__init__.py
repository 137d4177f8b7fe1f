"""What every room uses: argument checks, errors, atomic files, column names, progress bars."""
