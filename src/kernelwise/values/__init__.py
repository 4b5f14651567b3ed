"""What the values of a column are: numbers as people write them, dates, text, numbers of rows."""
