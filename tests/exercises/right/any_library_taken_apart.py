"""Takes the table apart into columns, and compares the readings of each."""


def scores(readings):
    xp = readings.__array_namespace__()
    cols = []
    for col in xp.unstack(readings, axis=1):
        if xp.all(col == col[0]):
            cols.append(xp.zeros_like(col))
        else:
            cols.append((col - xp.mean(col)) / xp.std(col, correction=1))
    return xp.stack(cols, axis=-1)
