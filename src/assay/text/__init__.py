"""What can be read from a text by rules: tokens, numbers, sentences, claims, refusals. Strings in, values out."""
