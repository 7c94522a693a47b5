"""The tools, as LangChain sees them."""
