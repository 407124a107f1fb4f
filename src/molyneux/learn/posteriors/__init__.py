"""Joint posteriors: pure functions of stacked expert parameters."""
