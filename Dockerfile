FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore

WORKDIR /app
COPY requirements/run.txt requirements/run.txt
RUN pip install --only-binary :all: --require-hashes -r requirements/run.txt

COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY orchestrator orchestrator
COPY workers workers
COPY definitions definitions
RUN pip install --no-deps --no-build-isolation .

RUN useradd --system --create-home --home-dir /data orchestrator
USER orchestrator
WORKDIR /data

CMD ["orchestrator", "--help"]
