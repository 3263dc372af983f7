"""The world: the server, its clients, and the story of a run."""
