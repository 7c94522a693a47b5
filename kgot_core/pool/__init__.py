"""Pools: slots with a graph server each, started, looked after, leased to one run at a time, and taken down again."""
