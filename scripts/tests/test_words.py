"""Tests of scripts/words."""

import contextlib
import importlib.machinery
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

PATH = str(Path(__file__).parents[1] / "words")
LOADER = importlib.machinery.SourceFileLoader("words", PATH)
WORDS = importlib.util.module_from_spec(importlib.util.spec_from_loader("words", LOADER))
LOADER.exec_module(WORDS)


def documents(text):
    prose = WORDS.Prose()
    WORDS.document("x.md", text.splitlines(), prose)
    return prose


def comments(text):
    prose = WORDS.Prose()
    WORDS.comments("x.rs", text.splitlines(), prose)
    return prose


class Words(unittest.TestCase):
    def test_persons_are_found_with_their_lines(self):
        prose = documents("# Head\n\nFine.\n\nWhoever reads\nthis is nobody.\n")
        self.assertEqual(prose.persons, [("x.md:5", "Whoever"), ("x.md:5", "nobody")])

    def test_code_and_quotations_are_no_prose(self):
        prose = documents('`who` and "nobody" are names.\n\n```text\nwho\n```\n')
        self.assertEqual(prose.persons, [])

    def test_a_sentence_of_36_words_is_long_and_one_of_35_is_not(self):
        self.assertEqual(len(documents("word " * 35 + "end.").long), 1)
        self.assertEqual(len(documents("word " * 34 + "end.").long), 0)

    def test_sentences_of_two_items_are_not_one(self):
        self.assertEqual(documents("- " + "word " * 20 + "\n- " + "word " * 20).long, [])

    def test_a_cell_of_201_characters_is_long(self):
        self.assertEqual(len(documents(f"| {'x' * 201} | y |").cells), 1)
        self.assertEqual(len(documents(f"| {'x' * 200} | y |").cells), 0)

    def test_comments_are_read_and_code_is_not(self):
        prose = comments('/// Nobody reads\n/// this.\nlet who = "nobody"; // whom\n// ```\n// who\n// ```\n')
        self.assertEqual([text for _, text in prose.persons], ["Nobody", "whom"])

    def test_check_fails_above_a_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.md")
            for text, code in (("Plain words.", 0), ("Nobody knows.", 1)):
                page.write_text(text, "utf-8")
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(WORDS.main(["--check", str(page)]), code)


if __name__ == "__main__":
    unittest.main()
