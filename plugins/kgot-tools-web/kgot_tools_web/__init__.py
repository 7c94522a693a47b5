"""Tools of kgot that reach the web."""
