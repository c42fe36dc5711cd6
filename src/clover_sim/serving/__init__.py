"""Many users on one machine: arrivals, continuous batching, capacity, percentiles, and where a strategy stops winning.

See docs/how-to/agents-and-servers.md.
"""
