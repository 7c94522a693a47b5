"""Tools of kgot that read files: documents, archives, images and sound."""
