"""What third parties import in their tests."""
