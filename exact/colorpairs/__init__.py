"""ColorPairs, the complete search of Benoist & Bourreau 2008, with options that switch off its parts."""
