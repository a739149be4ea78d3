"""Looking after a store: plain functions that return data. The command line calls them and prints."""
