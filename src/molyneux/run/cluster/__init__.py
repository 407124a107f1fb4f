"""Processes on the machines of a Ray cluster, which compute pieces of a task: runs, shards, blocks of an evaluation."""
