"""The code that runs inside a jail, shown or copied into it as the package ``jail``.

Nothing here imports the rest of kgot: inside the jail there is only the standard library and the environment's
installed packages. Outside are used ``wire``, ``environment`` and ``seccomp``; the others need Linux and
are never imported there.
"""
