"""File formats for Neo4j: statements for cypher-shell, and the lines of APOC's import and export."""
