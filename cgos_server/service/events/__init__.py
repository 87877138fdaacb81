"""Events as use cases: what operators, owners and bots may do with them."""
