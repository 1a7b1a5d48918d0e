"""A checksum as the last field of a JSON text: a text that was damaged or cut is refused.

A sealed text is a JSON object whose last field is "sha256", and which ends in exactly these characters:

    "sha256": "<64 hexadecimal digits, in lower case>"
    }

with a line feed after each of the two lines. The digits are the SHA-256 of all bytes before `"sha256"`. So a text
that was cut, reformatted or changed in any bit is no longer sealed.
"""

import hashlib
import re

_SEAL = re.compile(rb'"sha256": "([0-9a-f]{64})"\n\}\n')
_SEAL_LENGTH = 79
FIELD = "sha256"


def seal(text: str) -> str:
    """The text of a JSON object with its checksum as the last field.

    >>> print(seal('{"a": 1}'), end="")
    {"a": 1,
     "sha256": "2c26eb76bba28a6e8c1785e570d1b620523bb208b988612bb1725a710676c954"
    }
    """
    fields = text.rstrip().removesuffix("}").rstrip()
    before = f"{fields}{'' if fields.endswith('{') else ','}\n "
    return f'{before}"{FIELD}": "{hashlib.sha256(before.encode()).hexdigest()}"\n}}\n'


def fault(text: str | bytes) -> str | None:
    """Why the text is not as it was sealed; None if it is.

    >>> fault(seal('{"a": 1}')), fault(seal('{"a": 1}').replace("1", "2", 1))
    (None, 'its checksum does not match: it was damaged or edited')
    """
    try:
        content = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        return "it holds half a surrogate pair, which is not text"
    found = _SEAL.fullmatch(content, max(0, len(content) - _SEAL_LENGTH))
    if found is None:
        return "it does not end in its checksum: it was cut, reformatted, or never had one"
    if hashlib.sha256(memoryview(content)[: found.start()]).hexdigest() != found[1].decode():
        return "its checksum does not match: it was damaged or edited"
    return None
