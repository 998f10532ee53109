"""Constants keep their types."""

# ruff: noqa
# fmt: off
a = [0, 1, True, False, None, ..., 1.0, 1j, 1e999, 1e-320, 0.1, 1_000, 0xFF, 0o17, 0b1, 2**64, 18446744073709551617]
b = ["", "a", b"a", b"", b"\x00\xff", r"\d", "\d", u"u", "\u00b5 \U0001f600 \ud800", "tab\tnewline\n\\", 'it''s', "\N{MICRO SIGN}"]
c = -0.0, -1, +1.5e300
µ = "an identifier that is normalised"
