"""What a memory is made of: frozen records, without any I/O."""
