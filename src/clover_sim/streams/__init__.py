"""Where tokens come from: the reference stream, synthetic profiles, real files."""
