"""Tools of kgot from servers of the Model Context Protocol."""
