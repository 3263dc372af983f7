"""Label targets: shares of the classes that clients' streams move to."""
