def scores(readings):
    """Say how many standard deviations each reading is above the mean of its column."""
    xp = readings.__array_namespace__()
    centred = readings - xp.mean(readings, axis=0)
    spread = xp.std(readings, axis=0, correction=1)
    spread = xp.where(spread > 0, spread, xp.ones_like(spread))
    return centred / spread
