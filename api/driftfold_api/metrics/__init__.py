"""What the service tells Prometheus: how much there is of what, with labels from fixed lists."""
