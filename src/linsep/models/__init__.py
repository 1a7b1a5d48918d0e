"""Models as files: versioned JSON that another program can read, and that is read back strictly.

`files.py` puts a file in place and reads it, `halfspaces.py` is the model of `linsep fit`. docs/model-format.md names
every field.
"""

from linsep.models.halfspaces import Model, Training, from_json, load
from linsep.storage.strict import repeated

__all__ = ["Model", "Training", "from_json", "load", "repeated"]
