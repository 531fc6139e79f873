"""Learned forward kinematics of a slightly bent three-joint arm (tool position from joint angles)."""
import numpy as np
import keras
from keras import layers
from sklearn.linear_model import Ridge

keras.utils.set_random_seed(6)

LINKS = np.array([0.42, 0.36, 0.19])
EPOCHS, BATCH = 50, 64
BASE_LR, DECAY = 0.05, 0.95


def arm(q, bend):
    """Tool tip in metres; links sag with the angle of the shoulder."""
    angle = np.cumsum(q, axis=1) + bend * np.sin(2 * q[:, :1])
    r = (LINKS * np.cos(angle)).sum(1)
    z = (LINKS * np.sin(angle)).sum(1)
    return r, z


def measurements(n, seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi * 0.8, np.pi * 0.8, (n, 3))
    turn = rng.uniform(-np.pi, np.pi, n)
    r, z = arm(q, 0.07)
    tip = np.stack([r * np.cos(turn), r * np.sin(turn), z], 1)
    tip += rng.normal(0, 0.002, tip.shape)
    joints = np.concatenate([turn[:, None], q], 1)
    return joints.astype("float32"), tip.astype("float32")


def schedule(epoch, lr):
    return BASE_LR * DECAY ** epoch


def network():
    inp = layers.Input((4,))
    x = layers.Rescaling(1 / np.pi)(inp)
    for units in (96, 96, 64):
        x = layers.Dense(units, activation="tanh", kernel_initializer="he_normal")(x)
    return keras.Model(inp, layers.Dense(3)(x))


class Millimetres(keras.callbacks.Callback):
    def __init__(self, scale, every=10):
        super().__init__()
        self.scale, self.every = scale, every

    def on_epoch_end(self, epoch, logs=None):
        if epoch % self.every == self.every - 1:
            print(f"epoch {epoch + 1:3d}: loss {logs['loss']:.5f}  val rmse "
                  f"{1000 * self.scale * logs['val_loss'] ** 0.5:.1f} mm per axis")


q_tr, p_tr = measurements(4000, 0)
q_va, p_va = measurements(600, 1)
q_te, p_te = measurements(1500, 2)
scale = float(p_tr.std())

model = network()
model.compile(keras.optimizers.SGD(BASE_LR, momentum=0.9), loss="mse")
model.fit(q_tr, p_tr / scale, validation_data=(q_va, p_va / scale), epochs=EPOCHS,
          batch_size=BATCH, verbose=0,
          callbacks=[keras.callbacks.LearningRateScheduler(schedule), Millimetres(scale)])


def tip_error(pred):
    return 1000 * np.median(np.linalg.norm(pred - p_te, axis=1))


def harmonics(q):
    return np.concatenate([np.sin(q), np.cos(q)], 1)


ridge = Ridge(1e-3).fit(harmonics(q_tr), p_tr)
err = tip_error(model.predict(q_te, verbose=0) * scale)
print(f"test: median tip error {err:.1f} mm   ridge on sines {tip_error(ridge.predict(harmonics(q_te))):.1f} mm"
      f"   always the mean {tip_error(p_tr.mean(0)):.1f} mm")
