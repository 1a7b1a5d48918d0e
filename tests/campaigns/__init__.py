"""The campaigns of docs/trust.md and other long runs; `make test` runs small rounds of them.

`python -m tests.campaigns.NAME` runs one, from the root of the project. Most have a target in the Makefile.
"""
