"""Speaker vectors with a batch-hard triplet loss; scored on speakers never seen."""
import numpy as np
import keras
from keras import layers, ops
from sklearn.metrics import roc_auc_score

P, K = 12, 6                  # speakers per batch, clips per speaker
FRAMES, BANDS = 30, 20


class Voices:
    """Filter-bank clips: a speaker envelope, random phones, channel tilt and noise."""

    def __init__(self, n_speakers, phones, rng):
        self.rng = rng
        self.phones = phones
        smooth = np.exp(-.5 * ((np.arange(BANDS)[:, None] - np.arange(BANDS)) / 1.5) ** 2)
        self.env = rng.normal(0, .38, (n_speakers, BANDS)) @ smooth / smooth.sum(1).mean() * 2
        self.pitch = rng.uniform(.3, 1.2, n_speakers)

    def clip(self, s):
        r = self.rng
        idx = np.repeat(r.integers(0, len(self.phones), FRAMES // 5), 5)
        x = self.phones[idx] + self.env[s]
        x = x + .4 * np.cos(self.pitch[s] * np.arange(BANDS) + r.normal(0, .3))
        x = x + np.linspace(-1, 1, BANDS) * r.normal(0, .4) + r.normal(0, .3)
        return (x + r.normal(0, .8, x.shape)).astype("float32")


class PKBatches(keras.utils.PyDataset):
    def __init__(self, clips, steps, rng, **kw):
        super().__init__(**kw)
        self.clips, self.steps, self.rng = clips, steps, rng      # clips: (speaker, clip, t, f)

    def __len__(self):
        return self.steps

    def __getitem__(self, _):
        spk = self.rng.choice(len(self.clips), P, replace=False)
        x = np.concatenate([self.clips[s][self.rng.choice(self.clips.shape[1], K, replace=False)]
                            for s in spk])
        start = self.rng.integers(0, 6)
        return x[:, start:start + FRAMES - 5], np.repeat(spk, K)


def batch_hard(margin=None):
    """Hardest positive and negative per anchor; softplus instead of a hinge by default."""
    def loss(y, z):
        y = ops.reshape(y, (-1, 1))
        same = ops.cast(ops.equal(y, ops.transpose(y)), z.dtype)
        sq = ops.sum(ops.square(z), axis=1, keepdims=True)
        d = ops.sqrt(ops.maximum(sq + ops.transpose(sq) - 2 * ops.matmul(z, ops.transpose(z)), 1e-8))
        hardest_pos = ops.max(d * same, axis=1)
        hardest_neg = ops.min(d + 1e4 * same, axis=1)
        gap = hardest_pos - hardest_neg
        return ops.softplus(gap) if margin is None else ops.relu(gap + margin)
    return loss


def encoder(dim=24):
    inp = keras.Input((None, BANDS))
    x = layers.Conv1D(48, 5, activation="relu")(inp)
    x = layers.Conv1D(48, 3, dilation_rate=2, activation="relu")(x)
    mean = layers.GlobalAveragePooling1D()(x)
    peak = layers.GlobalMaxPooling1D()(x)
    return keras.Model(inp, layers.Dense(dim)(layers.Concatenate()([mean, peak])))


def verification(z, y):
    d = np.linalg.norm(z[:, None] - z[None], axis=-1)
    np.fill_diagonal(d, np.inf)
    top1 = np.mean(y[d.argmin(1)] == y)
    i, j = np.triu_indices(len(y), 1)
    return top1, roc_auc_score(y[i] == y[j], -d[i, j])


def main():
    keras.utils.set_random_seed(19)
    rng = np.random.default_rng(19)
    phones = rng.normal(0, .7, (16, BANDS))
    world, new = Voices(80, phones, rng), Voices(25, phones, rng)
    clips = np.stack([[world.clip(s) for _ in range(16)] for s in range(80)])
    x_new = np.stack([new.clip(s) for s in range(25) for _ in range(12)])
    y_new = np.repeat(np.arange(25), 12)

    raw = x_new.mean(1)
    raw_top1, raw_auc = verification((raw - raw.mean(0)) / raw.std(0), y_new)
    model = encoder()
    model.compile(keras.optimizers.Adam(2e-3, global_clipnorm=5.0), loss=batch_hard())
    model.fit(PKBatches(clips, 50, rng), epochs=14, verbose=2)

    top1, auc = verification(model.predict(x_new, verbose=0), y_new)
    print(f"mean spectrum   nearest neighbour {raw_top1:.3f}  pair AUC {raw_auc:.3f}")
    print(f"trained vectors nearest neighbour {top1:.3f}  pair AUC {auc:.3f}")


if __name__ == "__main__":
    main()
