"""The worker deployment: sample handlers, one file per domain, and their Celery application.

Importing the package registers the handlers; `workers.app` is the application. Every handler notes
what it does in the ledger and acts once per key, however often it is called.
"""

from workers import (
    cars,
    flights,
    fraud,
    hotels,
    inventory,
    notifications,
    payments,
    reviews,
    shipping,
    warehouse,
)

__all__ = [
    "cars",
    "flights",
    "fraud",
    "hotels",
    "inventory",
    "notifications",
    "payments",
    "reviews",
    "shipping",
    "warehouse",
]
