"""The reference engine: metering, rating, statements, exports, corrections."""
