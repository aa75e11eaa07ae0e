"""The baseline of './dev bench trainers': the same models in PyTorch, as people write them. One thread.

usage: torch_trainer.py MODEL BATCH STEPS      prints seconds and processor seconds of STEPS training steps

Ends with 77 if this Python lacks something that the model is made with.
"""
import pathlib
import sys
import time

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "trainers"))
import torch_networks


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(functional.relu(self.conv1(x)))
        x = self.pool(functional.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = functional.relu(self.fc1(x))
        x = functional.relu(self.fc2(x))
        return self.fc3(x)


def classifier(model, rule, pictures, batch):
    """A network of pictures, which are in memory and normalised already: nothing but the steps is measured."""
    labels = torch.randint(0, 2, (len(pictures),))
    model.train()

    def step(number):
        first = number * batch % (len(pictures) - batch + 1)
        rule.zero_grad()
        functional.cross_entropy(model(pictures[first:first + batch]), labels[first:first + batch]).backward()
        rule.step()

    return step


def cifar10(batch):
    """The tutorial's network and rule."""
    model = Cnn()
    rule = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    return classifier(model, rule, torch.rand(4096, 3, 32, 32) * 2 - 1, batch)


def resnet50(batch):
    model = torch_networks.resnet50(2)
    rule = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    return classifier(model, rule, torch.randn(2 * batch, 3, 224, 224), batch)


def mobilenet_v3(batch, layout=torch.contiguous_format):
    model = torch_networks.mobilenet_v3_small(2).to(memory_format=layout)
    rule = torch.optim.Adam(model.parameters(), lr=0.001)
    return classifier(model, rule, torch.randn(2 * batch, 3, 300, 300).contiguous(memory_format=layout), batch)


def mobilenet_v3_channels_last(batch):
    """What those do who have read how to make it faster."""
    return mobilenet_v3(batch, torch.channels_last)


def bert(batch, length=128):
    """BERT base as transformers make it, every text of full length."""
    try:
        from transformers import BertConfig, BertForSequenceClassification
    except ImportError:
        print("it has no transformers", file=sys.stderr)
        sys.exit(77)
    model = BertForSequenceClassification(BertConfig(num_labels=4)).train()
    rule = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01)
    ids = torch.randint(1000, model.config.vocab_size, (8 * batch, length))
    labels = torch.randint(0, 4, (8 * batch,))
    mask = torch.ones(batch, length, dtype=torch.long)

    def step(number):
        first = number * batch % (7 * batch)
        rule.zero_grad()
        part = slice(first, first + batch)
        model(input_ids=ids[part], attention_mask=mask, labels=labels[part]).loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rule.step()

    return step


MODELS = {made.__name__: made for made in (cifar10, resnet50, mobilenet_v3, mobilenet_v3_channels_last, bert)}


def main():
    name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    step = MODELS[name](batch)
    for number in range(3 if steps > 20 else 1):  # the first is slower; those of few steps take seconds each
        step(number)
    wall, processor = time.perf_counter(), time.process_time()
    for number in range(steps):
        step(number)
    print(time.perf_counter() - wall, time.process_time() - processor)


main()
