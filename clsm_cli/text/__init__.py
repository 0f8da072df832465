"""Text in, values out: secrets, terms, sentences, dates, mentions, phrases. No file, no clock, no model."""
