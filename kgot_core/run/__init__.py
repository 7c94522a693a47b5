"""One task from question to answer, stage by stage: decide, enhance (tool_calls, extract, repair), compute, finish.

The loop that calls the stages is :mod:`kgot_core.strategies.kgot_loop`; what they see is :mod:`kgot_core.run.context`.
"""
