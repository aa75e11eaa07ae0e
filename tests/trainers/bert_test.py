"""Compares our BERT to BertForSequenceClassification of Hugging Face's transformers, of which it has the names and the
results: files that it saved give the same logits here, and a few steps of AdamW the same weights.

usage: bert_test.py BERT_TOOL

Ends with 77 if there are no transformers.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import BertConfig, BertForPreTraining, BertForSequenceClassification, BertModel
except ImportError:
    print("PyTorch, safetensors or transformers are missing", file=sys.stderr)
    sys.exit(77)

TOOL = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
LENGTHS = [7, 1, 30, 12]
VOCABULARY = 200
CLASSES = 4


def config(layers, hidden, heads):
    return BertConfig(vocab_size=VOCABULARY, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                      intermediate_size=4 * hidden, num_labels=CLASSES, hidden_dropout_prob=0,
                      attention_probs_dropout_prob=0)


def strong(model):
    """Larger weights than a new model has, so that every part of it has a say."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return model


class Bert(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ids = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
        self.mask = torch.zeros_like(self.ids)
        self.labels = torch.arange(len(LENGTHS)) % CLASSES
        lines = []
        for text, length in enumerate(LENGTHS):
            self.ids[text, :length] = torch.randint(1, VOCABULARY, (length,))
            self.mask[text, :length] = 1
            lines.append(" ".join(map(str, [self.labels[text].item(), *self.ids[text, :length].tolist()])))
        self.texts = self.folder / "texts"
        self.texts.write_text("\n".join(lines) + "\n")

    def tool(self, how, made, *more):
        shape = ",".join(map(str, [made.num_hidden_layers, made.hidden_size, made.num_attention_heads, VOCABULARY,
                                   CLASSES]))
        ran = subprocess.run([TOOL, how, shape, *map(str, more)], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def our_logits(self, made, file):
        rows = self.tool("logits", made, file, self.texts).splitlines()
        return torch.tensor([[float(number) for number in row.split()] for row in rows])

    def test_logits_are_the_same(self):
        for sizes in [(2, 128, 2), (4, 256, 4)]:
            with self.subTest(sizes):
                model = strong(BertForSequenceClassification(config(*sizes))).eval()
                model.save_pretrained(self.folder)
                with torch.no_grad():
                    theirs = model(input_ids=self.ids, attention_mask=self.mask).logits
                ours = self.our_logits(model.config, self.folder / "model.safetensors")
                self.assertLess((ours - theirs).abs().max().item(), 1e-4)
                self.assertGreater(theirs.std().item(), 0.1)

    def test_what_others_saved_is_loaded(self):
        made = config(2, 128, 2)
        with self.subTest("an encoder without a head"):
            BertModel(made).save_pretrained(self.folder)
            self.our_logits(made, self.folder / "model.safetensors")
        with self.subTest("what guesses words, as .pth with the old names of norms"):
            state = BertForPreTraining(made).state_dict()
            state = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"):
                     tensor for name, tensor in state.items()}
            torch.save(state, self.folder / "model.bin")
            self.our_logits(made, self.folder / "model.bin")

    def test_training_gives_the_same_weights(self):
        steps, rate = 4, 1e-3
        model = strong(BertForSequenceClassification(config(2, 128, 2))).train()
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        save_file(before, self.folder / "before.safetensors")
        plain = ("bias", "LayerNorm.weight")
        optimizer = torch.optim.AdamW([
            {"params": [p for name, p in model.named_parameters() if not name.endswith(plain)], "weight_decay": 0.01},
            {"params": [p for name, p in model.named_parameters() if name.endswith(plain)], "weight_decay": 0}], lr=rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
        for _ in range(steps):
            optimizer.zero_grad()
            model(input_ids=self.ids, attention_mask=self.mask, labels=self.labels).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        self.tool("train", model.config, self.folder / "before.safetensors", self.texts, steps, rate,
                  self.folder / "after.safetensors")
        ours = load_file(self.folder / "after.safetensors")
        self.assertEqual(set(ours), set(before))
        for name, theirs in model.state_dict().items():
            if name.endswith("key.bias"):
                continue  # its gradient is 0 but for rounding, of which Adam makes whole steps
            moved = (theirs - before[name]).norm().item()
            self.assertLess((ours[name] - theirs).norm().item(), 0.02 * moved + 1e-6, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
