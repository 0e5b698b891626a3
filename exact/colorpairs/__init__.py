"""ColorPairs, the complete search of Benoist & Bourreau 2008; each part can be switched off."""
