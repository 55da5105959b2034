from celery import shared_task


@shared_task(rate_limit="100/s", ignore_result=True)
def send_receipt(order: str, payment: str) -> str:
    return f"receipt for {order}: {payment}"
