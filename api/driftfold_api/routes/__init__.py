"""The addresses of the API, a file for each subject."""
