# SPDX-License-Identifier: BSL-1.0
"""Training steps of networks of many kinds, for scripts/torch_step.py (`networks.py:lstm`) and run_networks.py."""
import torch
import torchvision
from torch import nn

F = nn.functional
torch.manual_seed(0)


def training(module, inputs, loss, optimizer=None):
    torch.manual_seed(1)
    return {'module': module, 'inputs': inputs, 'loss': loss,
            'optimizer': optimizer or torch.optim.Adam(module.parameters(), 1e-4)}


def classifying(module, classes, *inputs):
    """Of a batch of things; with SGD, as is usual for images."""
    labels = torch.randint(classes, (len(inputs[0]),))
    return training(module, inputs, lambda y: F.cross_entropy(y, labels),
                    torch.optim.SGD(module.parameters(), 0.01, momentum=0.9))


def images(module, batch, size=64, classes=1000):
    return classifying(module, classes, torch.randn(batch, 3, size, size))


class Words(nn.Module):
    """Predicts the next word of each place, by layers that go from place to place."""

    def __init__(self, layers, words, width):
        super().__init__()
        self.words, self.layers, self.out = nn.Embedding(words, width), layers, nn.Linear(width, words)

    def forward(self, x):
        return self.out(self.layers(self.words(x))[0])


class Cells(nn.Module):
    """Layers of cells: one of them for each place, and layer."""

    def __init__(self, cell, width, depth):
        super().__init__()
        self.cells = nn.ModuleList(cell(width, width) for _ in range(depth))

    def forward(self, x):
        states = [None] * len(self.cells)
        outputs = []
        for h in x.unbind(1):
            for i, cell in enumerate(self.cells):
                states[i] = cell(h, states[i])
                h = states[i][0] if isinstance(states[i], tuple) else states[i]
            outputs.append(h)
        return torch.stack(outputs, 1), states


def of_words(layers, batch, length, words):
    x = torch.randint(words, (batch, length + 1))
    return training(Words(layers, words, 128), (x[:, :-1].contiguous(),),
                    lambda y: F.cross_entropy(y.flatten(0, 1), x[:, 1:].flatten()))


def lstm(): return of_words(Cells(nn.LSTMCell, 128, 2), 16, 20, 1000)
def gru(): return of_words(Cells(nn.GRUCell, 128, 2), 16, 20, 1000)


class Encoder(nn.Module):
    def __init__(self, depth, width, heads, words, length):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 4 * width, 0.1, F.gelu, batch_first=True)
                                    for _ in range(depth))
        self.out = nn.Linear(width, words)

    def forward(self, x):
        h = self.norm(self.words(x) + self.places(torch.arange(x.shape[1])))
        for layer in self.layers:
            h = layer(h)
        return self.out(h)


def predicted_words(module, words, batch, length):
    x = torch.randint(words, (batch, length))
    return training(module, (x,), lambda y: F.cross_entropy(y.flatten(0, 1), x.flatten()))


def bert(): return predicted_words(Encoder(4, 128, 4, 1000, 64), 1000, 2, 64)


class Block(nn.Module):
    """Of a decoder that is normalised first."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (y.view(batch, length, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(self.norms[0](x)).chunk(3, 2))
        scores = q @ k.transpose(2, 3) / (width / self.heads) ** 0.5
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        y = scores.masked_fill(later, -1e9).softmax(3) @ v
        x = x + self.joined(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.wide(self.norms[1](x))))


class Decoder(nn.Module):
    def __init__(self, depth, width, heads, words):
        super().__init__()
        self.words, self.blocks = nn.Embedding(words, width), nn.Sequential(*(Block(width, heads)
                                                                             for _ in range(depth)))
        self.out = nn.Linear(width, words)

    def forward(self, x):
        return self.out(self.blocks(self.words(x)))


def transformer(): return predicted_words(Decoder(4, 128, 4, 1000), 1000, 2, 64)


def dcgan():
    """The discriminator, on real and made images."""
    layers = [nn.Conv2d(3, 64, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
    for width in (64, 128, 256):
        layers += [nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2)]
    net = nn.Sequential(*layers, nn.Conv2d(512, 1, 4, bias=False), nn.Flatten())

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, real, made):
            return self.net(real), self.net(made)

    def loss(y):
        real, made = y
        of = F.binary_cross_entropy_with_logits
        return of(real, torch.ones_like(real)) + of(made, torch.zeros_like(made))
    return training(Both(), (torch.randn(16, 3, 64, 64), torch.randn(16, 3, 64, 64)), loss)


def googlenet():
    return images(torchvision.models.googlenet(aux_logits=False, init_weights=False), 8)


def resnet18(): return images(torchvision.models.resnet18(), 8)
def shufflenet(): return images(torchvision.models.shufflenet_v2_x1_0(), 8)
def mobilenet_v3(): return images(torchvision.models.mobilenet_v3_small(), 8)


class UNet(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()

        def twice(i, o):
            layers = []
            for n in (i, o):
                layers += [nn.Conv2d(n, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU()]
            return nn.Sequential(*layers)
        widths = [width << d for d in range(depth + 1)]
        self.down = nn.ModuleList(twice(i, o) for i, o in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * o, o, 2, 2) for o in reversed(widths[:-1]))
        self.joined = nn.ModuleList(twice(2 * o, o) for o in reversed(widths[:-1]))
        self.out = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = kept.pop()
        for up, joined in zip(self.up, self.joined):
            x = joined(torch.cat([kept.pop(), up(x)], 1))
        return self.out(x)


def unet():
    x, labels = torch.randn(4, 3, 64, 64), torch.randint(2, (4, 64, 64))
    return training(UNet(), (x,), lambda y: F.cross_entropy(y, labels))


class GraphConvolutions(nn.Module):
    """Sums over edges, by gather and scatter, of several relations side by side."""

    def __init__(self, width, hidden, classes, relations):
        super().__init__()
        self.into = nn.ModuleList(nn.Linear(width, hidden) for _ in range(relations))
        self.out = nn.ModuleList(nn.Linear(hidden, classes) for _ in range(relations))

    def forward(self, x, edges):
        for layers in (self.into, self.out):
            sums = []
            for layer, (source, target) in zip(layers, edges.unbind(0)):
                h = layer(x)
                sums.append(torch.zeros_like(h).index_add(0, target, h.index_select(0, source)))
            x = sum(sums[1:], sums[0])
            x = F.relu(x) if layers is self.into else x
        return x


def gcn():
    nodes, x = 3000, torch.randn(3000, 128)
    edges, labels = torch.randint(nodes, (4, 2, 20000)), torch.randint(10, (nodes,))
    return training(GraphConvolutions(128, 64, 10, 4), (x, edges), lambda y: F.cross_entropy(y, labels))


class TwoTowers(nn.Module):
    """A recommender: users and things, each by their features, and a score for each pair of the batch."""

    def __init__(self, fields=6, rows=5000, width=32):
        super().__init__()

        def tables(): return nn.ModuleList(nn.Embedding(rows, width) for _ in range(fields))

        def layers():
            return nn.Sequential(nn.Linear(fields * width, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
                                 nn.Linear(128, 64))
        self.tables, self.towers = nn.ModuleList([tables(), tables()]), nn.ModuleList([layers(), layers()])

    def forward(self, users, things):
        sides = []
        for x, tables, tower in zip((users, things), self.tables, self.towers):
            features = [table(x[:, i]) for i, table in enumerate(tables)]
            sides.append(F.normalize(tower(torch.cat(features, 1)), dim=1))
        return sides[0] @ sides[1].t() / 0.1


def two_towers():
    users, things = torch.randint(5000, (256, 6)), torch.randint(5000, (256, 6))
    net = TwoTowers()
    return training(net, (users, things), lambda y: F.cross_entropy(y, torch.arange(256)),
                    torch.optim.Adagrad(net.parameters()))
