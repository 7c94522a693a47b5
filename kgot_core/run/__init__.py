"""One task from question to answer. ``lifecycle`` opens what it needs, lets its strategy run, and closes.

``stages`` are what a strategy calls (the loop is :mod:`kgot_core.strategies.kgot_loop`), ``context`` is what they see,
``desks`` make every outside call, ``prompting`` words the requests, ``record`` keeps all that happens.
"""
