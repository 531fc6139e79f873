# Tiny reading comprehension: a story of four sentences, a question "where is X",
# the answer is one of the rooms.
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers, ops

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

people = ["anna", "bob", "carla", "dan", "emil", "fiona"]
rooms = ["kitchen", "garden", "cellar", "attic", "garage"]
verbs = ["is in", "went to", "waits in", "sleeps in"]


def sample():
    who = rng.choice(people, 4, replace=False)
    where = rng.choice(rooms, 4)
    story = " . ".join(f"{p} {rng.choice(verbs)} the {r}" for p, r in zip(who, where))
    k = rng.integers(4)
    return story, f"where is {who[k]}", rooms.index(where[k])


stories, questions, answers = zip(*[sample() for _ in range(6000)])
stories, questions = np.array(stories), np.array(questions)
answers = np.array(answers)

vec = layers.TextVectorization(output_mode="int", output_sequence_length=24)
vec.adapt(np.concatenate([stories, questions]))
vocab = vec.vocabulary_size()
S = vec(stories).numpy()
Q = vec(questions).numpy()[:, :3]
print("vocabulary:", vocab, "| story", S.shape, "| question", Q.shape)

n = 5000
S_tr, Q_tr, A_tr = S[:n], Q[:n], answers[:n]
S_te, Q_te, A_te = S[n:], Q[n:], answers[n:]


class QuestionAttention(layers.Layer):
    """dot product attention of the question over the story"""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.wq = layers.Dense(units)
        self.wk = layers.Dense(units)
        self.wv = layers.Dense(units)
        self.scale = float(units) ** -0.5

    def call(self, question, story):
        q = self.wq(question)[:, None, :]                     # (batch, 1, units)
        k, v = self.wk(story), self.wv(story)                 # (batch, steps, units)
        scores = ops.matmul(q, ops.transpose(k, (0, 2, 1))) * self.scale
        weights = ops.softmax(scores, axis=1)
        return ops.matmul(weights, v)[:, 0, :]


embed = layers.Embedding(vocab, 32)
s_in = keras.Input((24,), dtype="int32", name="story")
q_in = keras.Input((3,), dtype="int32", name="question")
s = embed(s_in)
s = layers.Conv1D(64, 5, padding="same", activation="relu")(s)
q = layers.Flatten()(embed(q_in))
q = layers.Dense(64, activation="relu")(q)
h = QuestionAttention(64)(q, s)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(len(rooms), activation="softmax")(h)

model = keras.Model([s_in, q_in], out)
model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit([S_tr, Q_tr], A_tr, batch_size=64, epochs=16, validation_split=0.1, verbose=2)
print("test:", model.evaluate([S_te, Q_te], A_te, verbose=0))
