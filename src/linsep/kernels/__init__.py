"""The compiled loops: the only place where speed is written by hand."""

from linsep.kernels.cache_folder import ensure_cache_folder

ensure_cache_folder()  # before any loop is declared
