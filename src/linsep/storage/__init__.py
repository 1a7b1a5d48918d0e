"""What is kept in files: documents of strict JSON, whole or refused.

    documents   a kind of document: its name, its version, how it is written as text and read back
    strict      what a field may hold; each kind of document is a table of such readers
    checksum    the checksum that is the last field of a document

Nothing in this folder knows what a document is about.
"""
