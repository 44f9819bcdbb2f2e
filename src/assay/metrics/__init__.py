"""Arithmetic: arrays, ids, numbers and text in; arrays, numbers or labels out. Never sees a record."""
