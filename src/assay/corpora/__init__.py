"""Corpora of one's own: folders of documents cut into chunks, and the chunks of a target matched with them."""
