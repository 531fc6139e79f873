import argparse
import numpy as np
import keras
from keras import layers


def paint_nuclei(rng, size):
    yy, xx = np.mgrid[:size, :size]
    mask = np.zeros((size, size), dtype="float32")
    image = rng.normal(0.35, 0.12, (size, size))
    for _ in range(rng.integers(1, 5)):
        cy, cx = rng.uniform(4, size - 4, 2)
        ry, rx = rng.uniform(2.5, 5.5, 2)
        inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
        mask[inside] = 1.0
        image[inside] += rng.uniform(0.1, 0.3)
    image += np.linspace(0, rng.uniform(-0.2, 0.2), size)[None, :]
    return image.astype("float32"), mask


def make_slides(n, size, seed):
    rng = np.random.default_rng(seed)
    pairs = [paint_nuclei(rng, size) for _ in range(n)]
    images = np.stack([p[0] for p in pairs])[..., None]
    masks = np.stack([p[1] for p in pairs])[..., None]
    return images, masks


def conv(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.Activation("relu")(x)


def small_unet(size, width):
    inp = keras.Input((size, size, 1))
    a = conv(inp, width)
    b = conv(layers.MaxPooling2D()(a), width * 2)
    c = conv(layers.MaxPooling2D()(b), width * 4)
    u = layers.Concatenate()([layers.UpSampling2D()(c), b])
    u = conv(u, width * 2)
    u = layers.Concatenate()([layers.UpSampling2D()(u), a])
    u = conv(u, width)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u))


def dice(pred, true):
    inter = (pred * true).sum()
    return 2 * inter / (pred.sum() + true.sum())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--width", type=int, default=8)
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--patience", type=int, default=3)
    args = p.parse_args()
    keras.utils.set_random_seed(4)

    x_train, y_train = make_slides(400, args.size, 1)
    x_val, y_val = make_slides(100, args.size, 2)
    x_test, y_test = make_slides(150, args.size, 3)

    model = small_unet(args.size, args.width)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=[keras.metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.5, name="iou")],
    )
    stopper = keras.callbacks.EarlyStopping(
        monitor="val_iou", mode="max", patience=args.patience, restore_best_weights=True
    )
    hist = model.fit(
        x_train, y_train, validation_data=(x_val, y_val),
        epochs=args.epochs, batch_size=16, callbacks=[stopper], verbose=2,
    )

    pred = (model.predict(x_test, verbose=0) > 0.5).astype("float32")
    print("epochs run", len(hist.history["loss"]))
    print("reported val iou", [round(v, 4) for v in hist.history["val_iou"]])
    print(f"test dice {dice(pred, y_test):.3f}  all-foreground dice {dice(np.ones_like(y_test), y_test):.3f}")


if __name__ == "__main__":
    main()
