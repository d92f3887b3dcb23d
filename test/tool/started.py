# SPDX-License-Identifier: BSL-1.0
"""A program that runs while a test watches what it says, and ends it as a user would, by Ctrl-C."""
import os, pty, signal, subprocess

from program import EXE, check


class Started:
    """The program, with a terminal for what it says of its progress."""

    def __init__(self, *arguments):
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen([EXE, *arguments], stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        self.said = ''

    def read(self):
        try:
            text = os.read(self.terminal, 4096).decode(errors='replace')
        except OSError: # the program has ended
            text = ''
        self.said += text
        return text

    def wait_for(self, text):
        while text not in self.said and self.read():
            pass
        check(text in self.said, f'says "{text}": {self.said[-300:]}')

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        out = self.process.stdout.read()
        while self.read():
            pass
        os.close(self.terminal)
        return self.process.wait(), out, self.said
