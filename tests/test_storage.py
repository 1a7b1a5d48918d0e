"""The strict reader of documents: what it refuses, and where it says the fault is."""

import pytest

from linsep.errors import ModelError
from linsep.storage.checksum import seal
from linsep.storage.documents import Format
from linsep.storage.strict import FieldError, count, digits, each, long_integer, optional, record, text, written_integer

KIND = Format("test", 1, "note", ModelError)
PEOPLE = record(people=each(record(name=text, age=optional(count))), total=digits(3))


def read(fields):
    return KIND.read(KIND.write(fields), lambda document: PEOPLE(document, ""))


def test_a_document_comes_back_as_the_table_of_its_fields_says():
    found = read({"people": [{"name": "Ada", "age": 36}, {"name": "ü", "age": None}], "total": "2"})
    assert found == {"people": ({"name": "Ada", "age": 36}, {"name": "ü", "age": None}), "total": 2}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"people": [], "total": 2}, "total is 2: it must be a string of digits"),
        ({"people": [], "total": "1234"}, "total is '1234'"),
        ({"people": []}, "the field 'total' is missing"),
        ({"people": [], "total": "0", "more": 1}, "the field 'more' is unknown"),
        ({"people": [{"name": "a", "age": 1}, {"name": "b", "age": -1}], "total": "2"}, r"people\[1\].age is -1"),
        ({"people": [{"name": "a"}], "total": "2"}, r"the field 'age' of people\[0\] is missing"),
        ({"people": {"name": "a"}, "total": "2"}, "people is .*: it must be a list"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(fields, says):
    with pytest.raises(ModelError, match=says):
        read(fields)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('{"format": "test", "version": 1, "a": 1, "a": 2}', "'a' appears twice"),
        ('{"format": "test", "version": 1, "a": NaN}', "NaN"),
        ('{"format": "test", "version": 1.0}', "version is 1.0"),
        ('{"format": "test", "version": true}', "version is True"),
        ('{"format": "other", "version": 1}', "not a linsep note: its format is 'other', not 'test'"),
    ],
)
def test_a_header_or_a_text_that_is_not_ours_is_refused(body, says):
    with pytest.raises(ModelError, match=says):
        KIND.read(seal(body), dict)


def test_a_text_that_was_changed_is_refused():
    with pytest.raises(ModelError, match="The note is not intact: its checksum does not match"):
        KIND.read(KIND.write({"a": 1}).replace('"a": 1', '"a": 2'), dict)


@pytest.mark.parametrize("value", [0, -1, 10**599, -(10**599), 2**1990, -(2**4000)])
def test_an_integer_of_any_length_comes_back(value):
    assert long_integer(written_integer(value), "w") == value


@pytest.mark.parametrize("value", [1, "01", "-0", "1_0", "٣", "0x0f", "0xG", "", "1" * 601, None, True])
def test_what_is_no_written_integer_is_refused(value):
    with pytest.raises(FieldError, match="w is"):
        long_integer(value, "w")
