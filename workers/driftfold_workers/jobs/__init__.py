"""Jobs: what they are, how they are to be run, and what a job store promises."""
