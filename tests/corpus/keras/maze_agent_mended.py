"""Deep Q-learning in a small walled maze, several mazes stepped side by side."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

MAZE = np.array([list("......"),
                 list(".##.#."),
                 list(".#...."),
                 list("...#.#"),
                 list(".#.#.."),
                 list(".#...G")])
SIZE = len(MAZE)
FREE = [(r, c) for r in range(SIZE) for c in range(SIZE) if MAZE[r, c] == "."]
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
GAMMA, TAU, ENVS, BATCH = 0.93, 0.02, 8, 64
LIMIT = 40


def encode(cells):
    out = np.zeros((len(cells), SIZE * SIZE), "float32")
    for i, (r, c) in enumerate(cells):
        out[i, r * SIZE + c] = 1.0
    return out


def move(cell, action):
    r, c = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    if not (0 <= r < SIZE and 0 <= c < SIZE) or MAZE[r, c] == "#":
        return cell, 0.0, False
    goal = MAZE[r, c] == "G"
    return (r, c), float(goal), goal


def q_net():
    return keras.Sequential([keras.Input((SIZE * SIZE,)),
                             layers.Dense(64, activation="relu"),
                             layers.Dense(64, activation="relu"),
                             layers.Dense(len(MOVES))])


online, target = q_net(), q_net()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1.5e-3)
huber = keras.losses.Huber()


@tf.function
def q_values(s):
    return online(s)


@tf.function
def learn(s, a, r, s2, done):
    y = r + GAMMA * (1.0 - done) * tf.reduce_max(target(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(online(s) * tf.one_hot(a, len(MOVES)), axis=1)
        loss = huber(y, q)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


def soft_update():
    for t, o in zip(target.weights, online.weights):
        t.assign(TAU * o + (1.0 - TAU) * t)


def evaluate():
    solved, steps = 0, []
    for start in FREE:
        cell, done, n = start, False, 0
        while not done and n < 25:
            cell, _, done = move(cell, int(np.argmax(q_values(encode([cell]))[0])))
            n += 1
        solved += done
        steps.append(n)
    return solved / len(FREE), float(np.mean(steps))


memory = []
cells = [FREE[rng.integers(len(FREE))] for _ in range(ENVS)]
clock = np.zeros(ENVS, int)
ITERS = 2200
for it in range(ITERS):
    eps = max(0.1, 1.0 - 1.4 * it / ITERS)
    greedy = np.argmax(q_values(encode(cells)), axis=1)
    for e in range(ENVS):
        act = int(rng.integers(4)) if rng.random() < eps else int(greedy[e])
        nxt, reward, done = move(cells[e], act)
        memory.append((cells[e], act, reward, nxt, float(done)))
        clock[e] += 1
        if done or clock[e] >= LIMIT:
            nxt, clock[e] = FREE[rng.integers(len(FREE))], 0
        cells[e] = nxt
    if len(memory) > 8000:
        del memory[:ENVS]
    if len(memory) >= 400:
        s, a, r, s2, d = zip(*[memory[i] for i in rng.integers(len(memory), size=BATCH)])
        loss = learn(encode(s), tf.constant(a), tf.constant(r, tf.float32),
                     encode(s2), tf.constant(d, tf.float32))
        soft_update()
    if (it + 1) % 550 == 0:
        print("iter %d  loss %.5f  solved %.2f  mean steps %.1f" % (it + 1, loss, *evaluate()))

share, mean_steps = evaluate()
print(f"final: solved from {share:.1%} of the cells, {mean_steps:.1f} steps on average")
