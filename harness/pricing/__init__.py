"""The pricing model: its file, its reader, its refusals."""

from harness.pricing.model import Dimension, Kind, PricingModel, Tariff
from harness.pricing.read import PricingError, packaged, parse, read

__all__ = [
    "Dimension",
    "Kind",
    "PricingError",
    "PricingModel",
    "Tariff",
    "packaged",
    "parse",
    "read",
]
