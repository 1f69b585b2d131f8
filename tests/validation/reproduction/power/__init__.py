"""What papers 000 and 003 claim about power."""
