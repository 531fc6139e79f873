"""How Keras trained in 2021, for specimens that show what its users saw then. ``keras_2021.use(model)`` after loading a model.

TensorFlow 2.5 to 2.8 no longer install on a current Python, and the place where they differ is small, so it is rebuilt here:

- The training step took the targets from the second element of a ``(inputs, targets)`` batch only. Labels inside the input
  dictionary reached the model, never the loss given to ``compile``. (Since early 2022 the ``train_step`` of transformers copies them
  across.)
- A loss without a target was skipped, and where nothing was left the total was the constant 0. (Today it is None.)

No exception is written here. The constant goes into the gradient tape, which finds no way from it to the weights, and the optimizer
of the installed Keras raises whatever it raises. A model compiled without a loss trains by today's step: in 2021, too, it used the
loss that the model computes itself.
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
