"""The demonstration: the whole machinery on a small corpus. It measures nothing."""
