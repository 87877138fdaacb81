"""People with an account: sign-in, the pages of owners and operators, webhooks and feeds."""
