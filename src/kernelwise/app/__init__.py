"""The application: from a user's table to a page and a model file."""
