"""The fewest mistakes: a walk to few mistakes gives an upper bound, obstructions and hitting sets a lower one."""
