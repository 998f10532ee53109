"""Commands that run one page beside the build: its preview in the simulator, its hardware counters."""
