import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
rng=np.random.default_rng(0); X=rng.normal(size=(800,6)).astype("float32"); y=(X[:,0]+X[:,1]>0).astype("int32")
xs=tf.data.Dataset.from_tensor_slices(X)
ys=tf.data.Dataset.from_tensor_slices(y)
ds=tf.data.Dataset.zip((xs,ys)).shuffle(800).batch(32).prefetch(2)
m=keras.Sequential([keras.layers.Dense(16,activation="relu"),keras.layers.Dense(2)])
m.compile("adam",keras.losses.SparseCategoricalCrossentropy(from_logits=True),metrics=["accuracy"])
m.fit(ds,epochs=6,verbose=2)
