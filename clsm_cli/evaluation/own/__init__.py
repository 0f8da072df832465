"""A person's own labelled set: read, proposed, labelled, and used to set the floor."""
