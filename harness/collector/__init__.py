"""The reference collector: oslo notifications to canonical events, none lost."""
