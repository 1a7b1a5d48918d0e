"""
Learning from a stream of messages
==================================

`OnlinePerceptron` learns from one message after the other, and forgets none of the rule: it changes only when it is
wrong. Words become columns by hashing, so nothing has to be known in advance.
"""

import linsep

stream = [
    ("win a prize now, call this number", "spam"),
    ("are we still meeting at six", "ham"),
    ("free entry, text WIN to claim your prize", "spam"),
    ("I will call you after the meeting", "ham"),
    ("urgent: claim your free prize", "spam"),
    ("sorry, running late, see you at seven", "ham"),
    ("you win a free phone, reply now", "spam"),
    ("thanks for the lovely dinner", "ham"),
]
model = linsep.OnlinePerceptron(["ham", "spam"], bits=16)
for text, label in stream:
    guess = model.predict_then_learn(text, label)
    print(f"{label:5} {'right' if guess == label else 'wrong'}  {text}")

print(model)

# %%
# What it has learned predicts messages that it has not seen.

print(model.predict(["claim your phone", "see you at the meeting"]))
