"""NumPy on secrets: its functions and ufuncs, which find theirs in the tables of `_secret`. To import this fills these."""

# The ufuncs come first: the functions are made of them.
from . import ufuncs, shapes, sums, choices, products, order, linalg, refused

__all__ = ["choices", "linalg", "order", "products", "refused", "shapes", "sums", "ufuncs"]
