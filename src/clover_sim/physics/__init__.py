"""How confidences rise and when a commit is right or wrong; one file a model of it."""
