"""Everything that can change a number: studies, the gate, clocks, rounds, ceilings."""
