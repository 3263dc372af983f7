"""The archive: the record in SQL of what was accepted, and of what happened."""
