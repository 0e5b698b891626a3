"""Edge matching as exact cover: seed 003's reduction with Knuth's DLX, and exact cover with colours."""
