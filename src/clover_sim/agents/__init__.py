"""From passes to tasks: turns, tools, retries, money. See docs/how-to/agents-and-servers.md."""
