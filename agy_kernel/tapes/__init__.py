"""Tapes of the wire: looked at, compared, cleaned, recorded for any client, and played again."""
