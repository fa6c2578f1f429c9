"""Recipes of well-known data sets, one YAML file each: where a user gets the file, what in it is what, what is wrong with it."""
