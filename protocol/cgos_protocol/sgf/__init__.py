"""Games as SGF (FF[4]), written and read."""
