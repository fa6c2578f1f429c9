"""What stands in the files of a study, byte by byte (docs/format.md): canonical JSON, columns of CSV, how figures are shown."""
