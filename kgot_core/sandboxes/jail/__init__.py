"""The code that runs inside the jail, bound into it as the package ``jail``; only :mod:`.wire` is also used outside.

Nothing here imports the rest of kgot: inside the jail there is only the standard library and the environment's
installed packages. The modules other than ``wire`` need Linux and are never imported outside the jail.
"""
