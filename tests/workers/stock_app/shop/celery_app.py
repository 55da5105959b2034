import os

from celery import Celery

app = Celery(
    "shop",
    broker=os.environ["SHOP_BROKER_URL"],
    include=["shop.payments", "shop.mail", "shop.slow"],
)
app.conf.task_routes = {"shop.mail.*": {"queue": "mail"}}
app.conf.task_acks_late = True
app.conf.task_time_limit = 300
app.conf.worker_prefetch_multiplier = 4
app.conf.broker_connection_retry_on_startup = True
