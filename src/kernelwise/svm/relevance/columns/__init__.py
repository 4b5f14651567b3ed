"""From the columns of a user's table to encoded columns, and to scores and bins of these."""
