"""What others have published, to stand beside own numbers."""

from molyneux.report.published.beside import published_beside
from molyneux.report.published.leaderboard import Figure, Leaderboard, published

__all__ = ["Figure", "Leaderboard", "published", "published_beside"]
