#!/usr/bin/env python3
"""Command lines, job files and programs that are wrong: one sentence, an exit code, nothing started.

usage: agent_words.py PROGRAM
"""

import os
import unittest

import agent_rig
from agent_rig import BAD_INPUT, WRONG_COMMAND_LINE, AgentTest


class Words(AgentTest):
    def refused(self, sentence, *words, code=WRONG_COMMAND_LINE):
        run = self.ends(self.start(*words), code)
        self.assertRegex(run.said(), f"^outlast: error: {sentence}\n$")
        self.assertFalse(self.root.exists())
        self.assertEqual(list(self.work.iterdir()), [])

    def test_wrong_command_lines(self):
        root = ["--root", self.root]
        hint = " See: outlast run --help"
        self.refused(f"what is to be run\\? Give a job file, or a command after '--'\\.{hint}", *root)
        self.refused(f"the command after '--' is empty\\.{hint}", *root, "--", "")
        self.refused(f"--notice nonsense: it is file:PATH or none\\.{hint}", *root, "--notice", "nonsense", "--", "true")
        self.refused(f"--notice file:: it is file:PATH or none\\.{hint}", *root, "--notice", "file:", "--", "true")
        self.refused("checkpoint.every: 'checkpoint.every' must be auto, a duration such as 30m, or a count such as 500 steps or 2 epochs, "
                     f"not 'nonsense'\\.{hint}", *root, "--every", "nonsense", "--", "true")
        self.refused(f"the folder of the checkpoints is {self.work}, which holds more than checkpoints: name a folder in "
                     f"it, or let them be found \\(auto\\)\\.{hint}", *root, "--checkpoint", ".", "--", "true")
        self.refused(f"the folder of the checkpoints is {self.scratch}, which holds more than checkpoints: .*",
                     *root, "--checkpoint", self.scratch, "--", "true")
        self.refused("name: 'name' must be up to 63 lower-case letters, .*, not 'Bad Name': it cannot start with 'B'\\." + hint,
                     *root, "--job", "Bad Name", "--", "true")
        self.refused(f"grace: 'grace' must be a duration such as 30s, not 'soon'\\.{hint}", *root, "--grace", "soon", "--", "true")
        self.refused(f"lifetime: 'lifetime' must be a duration such as 24h, or none, not 'x'\\.{hint}", *root, "--lifetime", "x", "--",
                     "true")
        self.refused(".*--on-done.*nonsense.*", *root, "--on-done", "nonsense", "--", "true")
        self.refused(".*--evry.*", *root, "--evry", "1s", "--", "true")

    def test_wrong_roots(self):
        self.refused("root: 'root' must be a folder, file:///path, .*, not 'nonsense://x': 'nonsense' is not a kind of root\\..*",
                     "--root", "nonsense://x", "--", "true")
        self.refused("root: 'root' must be .*, not 's3://': the bucket is missing\\..*", "--root", "s3://", "--", "true")
        file = self.scratch / "file"
        file.touch()
        self.refused(f"the root, {file}, is a file: give a folder, or a bucket such as s3://bucket/prefix",
                     "--root", file, "--", "true", code=BAD_INPUT)
        self.refused(f"make the root {file}/below: .*: Not a directory", "--root", file / "below", "--", "true",
                     code=BAD_INPUT)

    def test_a_job_file_with_mistakes(self):
        path = self.scratch / "job.yaml"
        path.write_text("nmae: j\nrun: 'true'\n", encoding="utf-8")
        run = self.ends(self.start(path), BAD_INPUT)
        self.assertIn(f"{path}:1:1: a job has no key 'nmae'; did you mean 'name'?\n", run.said())
        self.assertRegex(run.said(), f"2 mistakes in {path}\n$")
        self.refused("there is no file 'none.yaml'; give the path of a job file, such as job.yaml", "none.yaml",
                     code=BAD_INPUT)

    def broken(self, sentence, *command, code):
        run = self.ends(self.train(command), code)
        self.assertEqual(run.texts("broken"), [sentence])
        self.assertEqual(run.events("retry"), [])
        self.assertRegex(run.said(), "once that is put right, give the same command again, here or on another machine\n$")

    def test_a_program_that_cannot_be_run(self):
        self.broken("there is no program 'no-such-program' in PATH", "no-such-program", code=BAD_INPUT)
        self.broken("there is no program '/no/such/program', or not the one that its first line (#!) names",
                    "/no/such/program", code=BAD_INPUT)
        script = self.scratch / "train.sh"
        script.write_text("true\n", encoding="utf-8")
        self.broken(f"'{script}' may not be run: make it executable (chmod +x), or name the program that runs it, such as "
                    "python3", script, code=1)
        # What was wrong did no harm: put right, the same job begins.
        script.write_text("#!/bin/sh\ntrue\n", encoding="utf-8")
        script.chmod(0o755)
        self.ends(self.train([script]), 0)

    def test_a_job_file_with_a_program_that_the_shell_does_not_find(self):
        run = self.ends(self.start(self.job_file(["no-such-program"], "retries: 0\n")), 1)
        self.assertEqual(run.texts("trainer-ended"), ["the trainer failed with exit code 127; the shell does not find the "
                                                      "command"])
        self.assertEqual(run.texts("failed"), ["the trainer died of exit code 127, and the job allows no retry"])

    @unittest.skipIf(os.geteuid() == 0, "root may do everything")
    def test_a_folder_that_is_not_ours(self):
        self.work.chmod(0o555)
        self.refused("make our folder: .*: Permission denied", "--root", self.root, "--", "true", code=1)

    @unittest.skipIf(os.geteuid() == 0, "root may do everything")
    def test_starting_at_boot_is_for_root(self):
        run = self.ends(self.start("--install-boot", "--root", self.root, "--", "true"), 1)
        self.assertIn("root", run.said())


if __name__ == "__main__":
    agent_rig.main()
