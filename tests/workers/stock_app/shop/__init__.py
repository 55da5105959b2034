"""A shop's Celery application as its authors have it: it knows nothing of the orchestrator."""
