"""What `make docs` makes: reference pages, pictures and the executed tutorial. The site is described in mkdocs.yml."""
