"""Storm alarm from buoy readings: full-batch softmax regression with plain SGD."""
import math
import torch

torch.manual_seed(0)

N, BUOYS, STATES = 6000, 30, 4
truth = torch.randn(BUOYS, STATES)


def readings(n):
    x = torch.randn(n, BUOYS)
    noise = -torch.log(-torch.log(torch.rand(n, STATES)))
    state = (1.5 * x @ truth + noise).argmax(1)
    # unit rows: each buoy array is read as a direction
    return x / x.norm(dim=1, keepdim=True), state


x, y = readings(N)
xv, yv = readings(2000)

weight = torch.zeros(BUOYS, STATES, requires_grad=True)
bias = torch.zeros(STATES, requires_grad=True)
RATE = 40.0
opt = torch.optim.SGD([weight, bias], lr=RATE)
STEPS = 9000

for step in range(STEPS):
    for group in opt.param_groups:
        group["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / STEPS))
    loss = torch.nn.functional.cross_entropy(x @ weight + bias, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 1000 == 0 or step == STEPS - 1:
        with torch.no_grad():
            logits = xv @ weight + bias
            vl = torch.nn.functional.cross_entropy(logits, yv).item()
            acc = (logits.argmax(1) == yv).float().mean().item()
        print(f"step {step:4d} lr {opt.param_groups[0]['lr']:.2f} loss {loss.item():.4f} val {vl:.4f} acc {acc:.3f}")

cos = torch.nn.functional.cosine_similarity(
    (weight - weight.mean(1, keepdim=True)).detach().flatten(), (truth - truth.mean(1, keepdim=True)).flatten(), dim=0)
print(f"agreement of the weights with the generating ones: {cos.item():.3f}")
