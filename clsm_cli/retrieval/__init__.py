"""From a query to an answer: candidates, scores, concepts, packing."""
