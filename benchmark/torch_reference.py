#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Step times and memory of networks in PyTorch on the GPU at hand, to hold plans of the bundled ones against.

  torch_reference.py

Networks have the layers of the bundled ones, and random weights. Prints CSV: what, batch, numbers, mode (eager: plain
or in place; captured as a graph; compiled), milliseconds per step (median of 20 after 5), MiB of tensors at the worst
moment beyond what there is between steps, MiB of weights. docs/costs.md and docs/memory.md compare plans with it.
"""
import torch, torch.nn as nn, torch.nn.functional as F

IN_PLACE = False


def relu(x):
    return F.relu(x, inplace=IN_PLACE)


class Bottleneck(nn.Module):
    def __init__(self, i, m, stride):
        super().__init__()
        o = 4 * m
        self.c = nn.ModuleList([nn.Conv2d(i, m, 1, 1, bias=False), nn.Conv2d(m, m, 3, stride, 1, bias=False),
                                nn.Conv2d(m, o, 1, bias=False)])
        self.b = nn.ModuleList([nn.BatchNorm2d(m), nn.BatchNorm2d(m), nn.BatchNorm2d(o)])
        self.s = None
        if stride != 1 or i != o:
            self.s = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = relu(self.b[0](self.c[0](x)))
        y = relu(self.b[1](self.c[1](y)))
        y = self.b[2](self.c[2](y))
        s = x if self.s is None else self.s(x)
        y = y.add_(s) if IN_PLACE else y + s
        return relu(y)


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.b = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        layers, i = [], 64
        for m, n, s in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for k in range(n):
                layers.append(Bottleneck(i, m, s if k == 0 else 1))
                i = 4 * m
        self.l, self.f = nn.Sequential(*layers), nn.Linear(2048, 1000)

    def forward(self, x):
        x = F.max_pool2d(relu(self.b(self.c(x))), 3, 2, 1)
        return self.f(self.l(x).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.u, self.v = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, mask):
        b, s, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, s, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2)) * (d // self.h) ** -0.5 + mask
        x = x + self.o((a.softmax(-1) @ v).transpose(1, 2).reshape(b, s, d))
        return x + self.v(F.gelu(self.u(self.n2(x)), approximate='tanh'))


class GPT2(nn.Module):
    def __init__(self, layers=12, d=768, h=12, vocab=50257, length=1024):
        super().__init__()
        self.w, self.p = nn.Embedding(vocab, d), nn.Embedding(length, d)
        self.l, self.n = nn.ModuleList([Block(d, h) for _ in range(layers)]), nn.LayerNorm(d)

    def forward(self, t):
        s = t.shape[1]
        mask = torch.full((s, s), float('-inf'), device=t.device, dtype=self.w.weight.dtype).triu(1)
        x = self.w(t) + self.p(torch.arange(s, device=t.device))
        for l in self.l:
            x = l(x, mask)
        return self.n(x) @ self.w.weight.T


def measure(what, make, data, numbers, mode, train=False):
    global IN_PLACE
    IN_PLACE = mode == 'in place'
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.cuda.empty_cache()
    torch.manual_seed(0)
    model = make().cuda().to(numbers)
    model.train(train)
    x = data(numbers)
    weights = sum(p.numel() * p.element_size() for p in list(model.parameters()) + list(model.buffers()))
    f = torch.compile(model) if mode == 'compiled' else model
    opt = torch.optim.Adam(model.parameters(), fused=True) if train else None

    def step():
        if not train:
            with torch.no_grad():
                return f(x)
        out = f(x)
        target = x if out.dim() == 3 else torch.zeros(out.shape[0], dtype=torch.long, device='cuda')
        loss = F.cross_entropy(out.flatten(0, -2).float(), target.flatten())
        loss.backward()
        opt.step()
        opt.zero_grad()

    if mode == 'graph':
        s = torch.cuda.Stream()
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(s)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            step()
        run = g.replay
    else:
        run = step
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    times = []
    for _ in range(20):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        result = run()
        b.record()
        torch.cuda.synchronize()
        del result
        times.append(a.elapsed_time(b))
    peak = torch.cuda.max_memory_allocated() - before
    batch = x.shape[0]
    mode = 'train' if train else mode
    print(f'{what},{batch},{str(numbers)[6:]},{mode},{sorted(times)[10]:.3f},{peak / 2**20:.1f},{weights / 2**20:.1f}',
          flush=True)


def images(b):
    return lambda n: torch.randn(b, 3, 224, 224, device='cuda', dtype=n)


def tokens(b, s):
    return lambda n: torch.randint(0, 50257, (b, s), device='cuda')


def main():
    print('what,batch,numbers,mode,ms,peak_mib,weights_mib')
    for numbers in (torch.float32, torch.bfloat16):
        for batch in (1, 32, 128):
            for mode in ('plain', 'in place', 'graph', 'compiled'):
                measure('resnet50', ResNet50, images(batch), numbers, mode)
        for batch in (1, 8):
            for mode in ('plain', 'graph', 'compiled'):
                measure('gpt2_small', GPT2, tokens(batch, 1024), numbers, mode)
        measure('resnet50', ResNet50, images(64), numbers, 'plain', train=True)


main()
