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
        hint = "\\.? See: outlast run --help" if code == WRONG_COMMAND_LINE else ""
        self.assertRegex(run.said(), f"^outlast: error: {sentence}{hint}\n$")
        self.assertFalse(self.root.exists())
        self.assertEqual(list(self.work.iterdir()), [])

    def refused_option(self, sentence, *option):
        self.refused(sentence, "--root", self.root, *option, "--", "true")

    def test_wrong_command_lines(self):
        root = ["--root", self.root]
        self.refused("what is to be run\\? Give a job file, or a command after '--'", *root)
        self.refused("the command after '--' is empty", *root, "--", "")
        notice = "it is one of auto, gce, ec2, azure, slurm, kubernetes, signal, file:PATH or none"
        self.refused_option(f"--notice nonsense: {notice}", "--notice", "nonsense")
        self.refused_option(f"--notice file:: {notice}", "--notice", "file:")
        self.refused_option("checkpoint.every: 'checkpoint.every' must be auto, a duration such as 30m, or a count "
                            "such as 500 steps or 2 epochs, not 'nonsense'", "--every", "nonsense")
        holds = "which holds more than checkpoints: name a folder in it, or let them be found \\(auto\\)"
        self.refused_option(f"the folder of the checkpoints is {self.work}, {holds}", "--checkpoint", ".")
        self.refused_option(f"the folder of the checkpoints is {self.scratch}, {holds}", "--checkpoint", self.scratch)
        self.refused_option("name: 'name' must be up to 63 lower-case letters, .*, not 'Bad Name': it cannot start "
                            "with 'B'", "--job", "Bad Name")
        self.refused_option("grace: 'grace' must be a duration such as 30s, not 'soon'", "--grace", "soon")
        self.refused_option("lifetime: 'lifetime' must be a duration such as 24h, or none, not 'x'", "--lifetime", "x")
        self.refused_option(".*--on-done.*nonsense.*", "--on-done", "nonsense")
        self.refused_option("there is no option '--evry'; did you mean '--every'\\?", "--evry", "1s")

    def test_wrong_roots(self):
        must = "root: 'root' must be a folder, file:///path, .*, not"
        self.refused(f"{must} 'nonsense://x': 'nonsense' is not a kind of root", "--root", "nonsense://x", "--", "true")
        self.refused(f"{must} 's3://': the bucket is missing", "--root", "s3://", "--", "true")
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
        self.assertRegex("\n".join(run.texts("broken")), sentence)
        self.assertEqual(run.events("retry"), [])
        self.assertRegex(run.said(), "once that is put right, give the same command again, here or on another "
                         "machine\n$")

    def test_a_program_that_cannot_be_run(self):
        for program, where in (("no-such-program", " in PATH"), ("/no/such/program", "")):
            run = self.ends(self.train([program]), BAD_INPUT)
            self.assertEqual(run.said(), f"outlast: error: there is no program '{program}'{where}\n")
        self.assertFalse(self.root.exists(), "for a slip of the pen nothing is begun")
        script = self.scratch / "train.sh"
        script.write_text("true\n", encoding="utf-8")
        self.broken(f"^'{script}' may not be run: make it executable \\(chmod \\+x\\), or name the program that runs it, "
                    "such as python3$", script, code=1)
        # What was wrong did no harm: put right, the same job begins.
        script.write_text("#!/bin/sh\ntrue\n", encoding="utf-8")
        script.chmod(0o755)
        self.ends(self.train([script]), 0)

    def test_a_command_without_the_two_dashes(self):
        run = self.ends(self.start("python3", "train.py"), WRONG_COMMAND_LINE)
        self.assertRegex(run.said(), "^outlast: error: 'train.py' is one word too many for 'outlast run': a command and its "
                         "words come after '--'")
        run = self.ends(self.start("./train.sh"), WRONG_COMMAND_LINE)
        self.assertRegex(run.said(), "^outlast: error: .*'./train.sh' is no job file \\(.yaml\\); a command comes after '--': "
                         "outlast run -- ./train.sh")

    def test_a_root_that_does_not_know_who_was_here(self):
        self.ends(self.train(["true"]), 0)
        self.root.rename(self.scratch / "elsewhere")
        run = self.ends(self.train(["true"]), 4)
        self.assertRegex(run.said(), "attempt 1 of job 'j' was in this folder, and .* knows only 0: is it the right root, and "
                         "is it mounted\\? To begin anew here, remove .outlast-run")

    def test_a_trainer_whose_files_nobody_knows(self):
        trainer = self.trainer("time.sleep(6)\npathlib.Path('mystate').write_text('x')\n")
        run = self.ends(self.start("--root", self.root, "--job", "j", "--", *map(str, trainer)), 0)
        self.assertRegex(run.texts("nothing-saved")[0], "^nothing was saved: no checkpoint was recognised in .*--checkpoint DIR$")

    def test_a_job_file_with_a_program_that_the_shell_does_not_find(self):
        run = self.ends(self.start(self.job_file(["no-such-program"], "retries: 0\n")), 1)
        self.assertEqual(run.texts("trainer-ended"), ["the trainer failed with exit code 127; the shell does not find "
                                                      "the command"])
        self.assertEqual(run.texts("failed"), ["the trainer died of exit code 127, and the job allows no retry"])

    @unittest.skipIf(os.geteuid() == 0, "root may do everything")
    def test_a_folder_that_is_not_ours(self):
        self.work.chmod(0o555)
        run = self.ends(self.start("--root", self.root, "--", "true"), 1)
        self.assertRegex(run.said(), f"^outlast: error: make our folder: .*{self.work}.*: Permission denied")

    @unittest.skipIf(os.geteuid() == 0, "root may do everything")
    def test_starting_at_boot_is_for_root(self):
        run = self.ends(self.start("--install-boot", "--root", self.root, "--", "true"), 1)
        self.assertIn("root", run.said())


if __name__ == "__main__":
    agent_rig.main()
