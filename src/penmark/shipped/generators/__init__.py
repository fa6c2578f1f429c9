"""Generators that ship with penmark, reached by entry point only: servers that write a text for a prompt.

``provider`` asks one over HTTP; ``openai``, ``anthropic``, ``google`` and ``cohere`` say what a request and an answer look
like. Why no library for it: docs/libraries.md.
"""
