"""Tests of the store: what it promises, and that the stock store does not keep it where it has the fault."""
