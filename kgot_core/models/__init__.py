"""Chat models through LangChain: opening them, asking them, retrying, counting and pricing."""
