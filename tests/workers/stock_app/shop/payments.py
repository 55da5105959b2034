from celery import Task, shared_task
from celery.utils.log import get_task_logger

log = get_task_logger(__name__)


class GatewayAway(Exception):
    pass


class CardDeclined(Exception):
    pass


@shared_task(bind=True, max_retries=3)
def charge(self: Task, order: str, cents: int) -> dict:
    log.info("charging %s for order %s, attempt %s", cents, order, self.request.retries)
    if cents > 100_000:
        raise CardDeclined(f"{cents} is more than the card has")
    return {"order": order, "cents": cents, "payment": self.request.id}


@shared_task(autoretry_for=(GatewayAway,), retry_backoff=5, max_retries=7)
def reconcile(order: str) -> None:
    raise GatewayAway(f"the bank does not answer for {order}")


@shared_task(bind=True)
def capture(self: Task, order: str, fail_first: bool = False) -> dict:
    if fail_first and self.request.retries == 0:
        raise self.retry(exc=GatewayAway("try again"), countdown=3600)
    return {"captured": order, "retries": self.request.retries}
