"""What docs/survive_in_five_lines.md shows is in the files that it names, and is no more than five lines."""

import pathlib
import re
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
PAGE = TREE / "docs/survive_in_five_lines.md"
EXAMPLES = TREE / "examples/sdk"


def marked(text):
    return [line.strip() for line in text.splitlines() if line.endswith("# outlast")]


class Page(unittest.TestCase):
    def test_each_snippet_is_in_its_file_in_that_order(self):
        snippets = re.findall(r"\]\(\.\./examples/sdk/(\w+\.py)\)\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        self.assertEqual({name for name, _ in snippets}, {path.name for path in EXAMPLES.glob("*.py")})
        for name, snippet in snippets:
            code = (EXAMPLES / name).read_text("utf-8")
            lines = iter([line.strip() for line in code.splitlines()])
            for line in snippet.splitlines():
                with self.subTest(name, line=line):
                    self.assertTrue(line.strip() == "…" or line.strip() in lines)
            with self.subTest(name):
                self.assertEqual(marked(snippet), marked(code))

    def test_no_trainer_needs_more_than_five_lines(self):
        for path in EXAMPLES.glob("*.py"):
            with self.subTest(path.name):
                self.assertIn(len(marked(path.read_text("utf-8"))), range(2, 6))


if __name__ == "__main__":
    unittest.main()
