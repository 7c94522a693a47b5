"""Graph backend ``neo4j``: a task graph in a Neo4j database, written and queried in Cypher."""
