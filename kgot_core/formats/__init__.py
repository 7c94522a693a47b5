"""The file formats that need no plugin: ``snapshot`` and ``csv``."""
