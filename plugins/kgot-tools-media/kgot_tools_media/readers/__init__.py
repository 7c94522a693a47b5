"""One module for each kind of document: ``read(path, options)`` gives its parts."""
