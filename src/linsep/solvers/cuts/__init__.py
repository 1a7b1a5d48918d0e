"""Regions: hyperplanes that cut off rows of one class."""
