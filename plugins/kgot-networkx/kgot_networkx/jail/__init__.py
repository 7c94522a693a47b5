"""Our own code that runs inside the sandbox, beside the model's script.

The modules here are read as text and fed to the sandbox, so they import nothing but each other and, for ``full``,
networkx. ``values``, ``report`` and ``rows`` keep to the Python subset of the small sandbox (no inheritance, no
decorated methods, no generators, no ``del``) and serve both; their names begin with ``kg_`` because in that sandbox
they share one namespace with the script.
"""
