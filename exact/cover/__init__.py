"""Edge matching as exact cover: the reduction of Jolivet 2008, and exact cover with colours."""
