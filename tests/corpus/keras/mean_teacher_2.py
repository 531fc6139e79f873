import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

tf.keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)


def make_net():
    return tf.keras.Sequential([
        tf.keras.layers.Input((64,)),
        tf.keras.layers.Dense(96, activation="relu"),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(10),
    ])


x, y = load_digits(return_X_y=True)
x = (x / 8.0 - 1.0).astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=41, stratify=y)

known = rng.permutation(len(x_tr))[:200]
x_lab, y_lab = x_tr[known], y_tr[known]

student, teacher = make_net(), make_net()
teacher.set_weights(student.get_weights())
teacher.trainable = False

opt_body = tf.keras.optimizers.Adam(2e-3)
opt_head = tf.keras.optimizers.SGD(0.05, momentum=0.9)
body_vars = student.layers[0].trainable_variables
head_vars = student.layers[-1].trainable_variables
opt_body.build(body_vars)
opt_head.build(head_vars)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(xl, yl, xu, weight):
    with tf.GradientTape(persistent=True) as tape:
        supervised = ce(yl, student(xl, training=True))
        noisy = xu + tf.random.normal(tf.shape(xu), stddev=0.1)
        guess = tf.nn.softmax(student(noisy, training=True))
        target = tf.stop_gradient(tf.nn.softmax(teacher(xu, training=True)))
        consistency = tf.reduce_mean(tf.reduce_sum(tf.square(guess - target), axis=1))
        loss = supervised + weight * consistency
    g_body = tape.gradient(loss, body_vars)
    g_head = tape.gradient(loss, head_vars)
    del tape
    opt_body.apply_gradients(zip(g_body, body_vars))
    opt_head.apply_gradients(zip(g_head, head_vars))
    for t, s in zip(teacher.weights, student.weights):
        t.assign(0.98 * t + 0.02 * s)
    return supervised, consistency


labelled = tf.data.Dataset.from_tensor_slices((x_lab, y_lab)).shuffle(200).repeat().batch(32)
unlabelled = tf.data.Dataset.from_tensor_slices(x_tr).shuffle(2000).repeat().batch(96)

steps = 600
sup_log, con_log = [], []
for step, ((xl, yl), xu) in enumerate(zip(labelled.take(steps), unlabelled)):
    ramp = tf.constant(2.0 * min(1.0, step / 200), dtype=tf.float32)
    s, c = train_step(xl, yl, xu, ramp)
    sup_log.append(float(s))
    con_log.append(float(c))
    if step % 150 == 149:
        print(f"step {step + 1}: supervised {np.mean(sup_log[-50:]):.4f}  consistency {np.mean(con_log[-50:]):.4f}")

for name, net in (("student", student), ("teacher", teacher)):
    acc = np.mean(net(x_te, training=False).numpy().argmax(1) == y_te)
    print(f"{name} test accuracy {acc:.3f}")
