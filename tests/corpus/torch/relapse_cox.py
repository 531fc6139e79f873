import numpy as np
import torch
import torch.nn as nn

np.random.seed(4)
torch.manual_seed(4)

# patients: age, marker, dose, stage, two columns of noise
n = 900
x = np.random.randn(n, 6).astype("float32")
risk = 0.9 * x[:, 0] - 0.8 * x[:, 1] * (x[:, 2] > 0) + 0.7 * np.abs(x[:, 3])
event_time = np.random.exponential(np.exp(-risk) * 10)
censor_time = np.random.exponential(12, n)
time = np.minimum(event_time, censor_time)
event = (event_time <= censor_time).astype("float32")

x_train, t_train, e_train = x[:700], time[:700], event[:700]
x_test, t_test, e_test = x[700:], time[700:], event[700:]

# longest follow-up first
order = np.argsort(-t_train)
x_train = torch.tensor(x_train[order])
e_train = torch.tensor(e_train[order])


def cox_loss(log_hazard, event):
    at_risk = torch.logcumsumexp(log_hazard, 0)
    return -((log_hazard - at_risk) * event).sum() / event.sum()


def c_index(t, e, score):
    good = pairs = 0
    for i in range(len(t)):
        if e[i]:
            later = t > t[i]
            pairs += later.sum()
            good += (score[i] > score[later]).sum()
    return good / pairs


net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 1, bias=False))
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-3)

for epoch in range(201):
    net.train()
    loss = cox_loss(net(x_train).squeeze(1), e_train)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 25 == 0:
        net.eval()
        with torch.no_grad():
            score = net(torch.tensor(x_test)).squeeze(1).numpy()
        print(epoch, round(loss.item(), 4), "c-index", round(float(c_index(t_test, e_test, score)), 3))
