"""What the stages ask for things: models, the graph, tools, scripts, votes, files. Every outside call passes here."""
