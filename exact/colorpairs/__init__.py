"""ColorPairs, the search of seed 000 (Benoist & Bourreau 2008), whole, each part switchable."""
