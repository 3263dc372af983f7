"""From the job store to the archive: what happened is recorded, what was lost is queued again."""
