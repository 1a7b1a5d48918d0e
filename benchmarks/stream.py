"""Mistakes on a stream of text: every message is predicted before it is learned from, beside Vowpal Wabbit.

python benchmarks/stream.py

The SMS collection once, in its order, hashed into 2^18 columns. Reads SMSSpamCollection from the folder of
real_data.py; Vowpal Wabbit's lines need the package vowpalwabbit.
"""

from linsep import OnlinePerceptron
from real_data import data_folder
from timing import table

BITS = 18
OURS = (
    ("perceptron", "last", 1.0),
    ("perceptron", "average", 1.0),
    ("pa1", "last", 1.0),
    ("pa2", "last", 1.0),
    ("arow", "last", 1.0),
    ("arow", "last", 0.5),
)
THEIRS = ("", "--sgd")


def messages():
    lines = (data_folder() / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    return zip(*(line.split("\t", 1) for line in lines if line), strict=True)


def ours(labels, texts):
    for rule, keep, C in OURS:
        model = OnlinePerceptron(["ham", "spam"], bits=BITS, rule=rule, keep=keep, C=C)
        model.predict_then_learn(list(texts), list(labels))
        yield [f"OnlinePerceptron(rule={rule!r}, keep={keep!r}, C={C:g})", model.counts.mistakes, model.counts.updates]


def theirs(labels, texts):
    try:
        from vowpalwabbit import Workspace

        from wabbit import text_lines
    except ImportError:
        return
    signs = [1 if label == "spam" else -1 for label in labels]
    for options in THEIRS:
        workspace = Workspace(f"-b {BITS} --loss_function hinge --quiet {options}")
        mistakes = 0
        for line, sign in zip(text_lines(texts, signs), signs, strict=True):
            mistakes += workspace.predict(line.split(" ", 1)[1]) * sign <= 0
            workspace.learn(line)
        workspace.finish()
        yield [f"Vowpal Wabbit --loss_function hinge {options}".strip(), mistakes, ""]


def main():
    labels, texts = messages()
    print(f"Mistakes on {len(texts):,} messages, each predicted before it is learned from.\n")
    print(table(["learner", "mistakes", "updates"], [*ours(labels, texts), *theirs(labels, texts)]))


if __name__ == "__main__":
    main()
