"""Contextual pricing, actor and critic with an optimizer each. Reward = price * sold."""
import numpy as np
import tensorflow as tf
import keras

PRICES = np.array([4.0, 6.0, 8.0, 10.0, 12.0], "float32")


class Shop:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def visitors(self, n):
        return self.rng.normal(0, 1, (n, 4)).astype("float32")

    @staticmethod
    def budget(ctx):
        return 8 + 3.0 * ctx[:, 0] - 1.5 * ctx[:, 1] * (ctx[:, 2] > 0)

    def chance(self, ctx):
        return 1 / (1 + np.exp((PRICES[None] - self.budget(ctx)[:, None]) * 1.5))

    def sell(self, ctx, action):
        p = self.chance(ctx)[np.arange(len(ctx)), action]
        return ((self.rng.random(len(ctx)) < p) * PRICES[action]).astype("float32")

    def expected(self, ctx):
        return self.chance(ctx) * PRICES[None]


def mlp(out):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(48, activation="tanh"),
                             keras.layers.Dense(48, activation="tanh"), keras.layers.Dense(out)])


class Agent:
    def __init__(self):
        self.actor, self.critic = mlp(len(PRICES)), mlp(1)
        self.actor_opt = keras.optimizers.Adam(2e-3)
        self.critic_opt = keras.optimizers.RMSprop(5e-3)

    def act(self, ctx):
        return tf.random.categorical(self.actor(ctx), 1)[:, 0]

    @tf.function
    def learn(self, ctx, action, reward, beta):
        with tf.GradientTape() as ta, tf.GradientTape() as tc:
            value = self.critic(ctx)[:, 0]
            adv = tf.stop_gradient(reward - value)
            adv = adv / (tf.math.reduce_std(adv) + 1e-6)
            logp = tf.nn.log_softmax(self.actor(ctx))
            taken = tf.gather(logp, action, batch_dims=1)
            entropy = -tf.reduce_sum(tf.exp(logp) * logp, -1)
            actor_loss = -tf.reduce_mean(taken * adv) - beta * tf.reduce_mean(entropy)
            critic_loss = tf.reduce_mean((reward - value) ** 2)
        av, cv = self.actor.trainable_variables, self.critic.trainable_variables
        self.actor_opt.apply_gradients(zip(ta.gradient(actor_loss, av), av))
        self.critic_opt.apply_gradients(zip(tc.gradient(critic_loss, cv), cv))
        return actor_loss, critic_loss, tf.reduce_mean(entropy)


if __name__ == "__main__":
    keras.utils.set_random_seed(9)
    shop, agent = Shop(9), Agent()
    test = Shop(10).visitors(4000)
    table = shop.expected(test)
    best, flat = table.max(1).mean(), table.mean(0).max()
    for it in range(1, 2001):
        ctx = shop.visitors(256)
        a = agent.act(ctx)
        r = shop.sell(ctx, a.numpy())
        beta = tf.constant(0.05 * (1 - it / 2000), tf.float32)
        al, cl, ent = agent.learn(ctx, a, tf.constant(r), beta)
        if it % 200 == 0:
            greedy = agent.actor(test).numpy().argmax(1)
            got = table[np.arange(len(test)), greedy].mean()
            print(f"{it:5d} actor {float(al):+.3f} critic {float(cl):.2f} entropy {float(ent):.2f} "
                  f"income {got:.2f} (one price {flat:.2f}, ideal {best:.2f})")
