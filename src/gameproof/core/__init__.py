"""What every room needs: arguments, errors, files, names, progress."""
