"""The fewest mistakes: a walk to few of them from above, obstructions and hitting sets from below."""
