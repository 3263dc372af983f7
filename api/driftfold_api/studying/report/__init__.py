"""The report of a study: one page that needs nothing else, and a summary in Markdown."""
