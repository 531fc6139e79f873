"""How Keras trained in 2021: ``keras_2021.use(model)``, for specimens that show what its users saw then.

TensorFlow 2.5 to 2.7 cannot be installed on a current Python, and the place where they differ is small, so that is
rebuilt here:

- The training step took the targets from the second element of an ``(inputs, targets)`` batch and from nowhere else.
  Labels inside the input dictionary reached the model, but never the loss that was given to ``compile``.
  (The ``train_step`` that transformers has today copies them across.)
- A loss without a target was skipped, and where nothing was left the total was the constant 0. (Today it is None.)

No exception is written here. The constant goes into the gradient tape, which finds no way from it to the weights, and
the optimizer of the installed Keras raises whatever it raises. A model compiled without a loss trains by today's step:
in 2021, too, it then used the loss that the model computes itself.
"""

import types

import tensorflow as tf


def use(model):
    """Make ``model`` (a TensorFlow model of transformers) train as in 2021. Call it before ``fit``."""
    step_of_today = model.train_step

    def train_step(model, data):
        if model._using_dummy_loss:  # compile() was given no loss: the model computes its own
            return step_of_today(data)
        inputs, targets, weights = tf.keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            outputs = model(inputs, training=True)
            loss = model.compiled_loss(targets, outputs.logits, weights, regularization_losses=model.losses)
            if loss is None:
                loss = tf.zeros(())
        model.optimizer.minimize(loss, model.trainable_variables, tape=tape)
        model.compiled_metrics.update_state(targets, outputs.logits, weights)
        return {metric.name: metric.result() for metric in model.metrics}

    model.train_step = types.MethodType(train_step, model)
