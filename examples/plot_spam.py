"""
Spam, learned from a stream of messages
=======================================

`OnlinePerceptron` learns from one message after another, and changes only when it is wrong. Words become columns by
hashing, so nothing has to be known in advance.
"""

import matplotlib.pyplot as plt

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
mistakes = []
for text, label in stream:
    guess = model.predict_then_learn(text, label)
    print(f"{label:5} {'right' if guess == label else 'wrong'}  {text}")

    mistakes.append(model.counts.mistakes)
print(model)

# %%
# Each message was predicted before it was learned from, so the mistakes are honest.

figure, ax = plt.subplots(figsize=(6, 3))
ax.step(range(1, len(stream) + 1), mistakes, where="mid")
ax.set(xlabel="messages", ylabel="mistakes so far", ylim=(0, len(stream)))
figure.tight_layout()

# %%
# What it has learned predicts messages that it has not seen.

print(model.predict(["claim your phone", "see you at the meeting"]))
