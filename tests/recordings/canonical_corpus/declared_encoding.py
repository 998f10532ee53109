#!/usr/bin/env python
# vim: set fileencoding=Latin-1 :
# ruff: noqa
# fmt: off
x = "plain"
pass
