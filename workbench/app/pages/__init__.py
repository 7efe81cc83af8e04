"""What each page of the app asks the server for: one file a page, each a table of routes."""
