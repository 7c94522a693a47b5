"""Graph backends ``rdf`` and ``rdf-remote``: a task graph as RDF, written and queried in SPARQL."""
