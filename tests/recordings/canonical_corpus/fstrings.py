"""F-strings: how they are split into parts differs between 3.11, 3.12 and 3.13."""

# ruff: noqa
# fmt: off
a = f"", f"text", f"a{x}b", f"{x}{y}", f"a{{b}}{x}", f"{x!r}{x!s}{x!a}"
b = f"{x:}", f"{x:>10}", f"{x:{a}{b}}", f"{x!r:^{w}}{{", f"{x:{w}.{p}f}", f"{x:%H:%M}", f"{x:{{}}}"
c = f"{x=}", f"{x = }", f"{x=!s}", f"{x=:5}", f"{x=:}"
d = "a" f"b" "c", f"{x}" "b" f"{y}", f"a" f"{x}" f"b" 'c', rf"\d{x}", "plain" f""
e = f'''{
x
}''', f"{a['b']}", f"{(lambda x: 1)}", f"{x,}", f"{'nested ' 'text'}", f"{f'{x}'}", f"\N{EM DASH}{x}\x41", f"{x:a\nb}"
