"""The stages of a study, one a command. Files are the interface between them."""
