# The service: API and page (the command below), or a worker (`driftfold worker`).
#
# PyTorch's CPU build is smaller by several GB. To get it, name an index that has it:
#   docker build --build-arg PIP_EXTRA_INDEX_URL=<index of CPU builds> -t driftfold .

# The Python that the lock file is resolved on.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS build
ARG PIP_EXTRA_INDEX_URL=""
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
# The compiler of the kernels; it stays behind in this stage.
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv /app
COPY requirements.lock ./
RUN /app/bin/pip install -r requirements.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY sim sim
COPY workers workers
COPY api api
RUN /app/bin/pip install --no-deps .

FROM python:${PYTHON}-slim
RUN useradd --system --uid 10001 --home-dir /data --no-create-home driftfold \
    && install -d -o driftfold /data /data/runs
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DRIFTFOLD_RUNS=/data/runs
USER driftfold
WORKDIR /data
VOLUME /data/runs
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-m", "driftfold_api.health", "http://127.0.0.1:8000"]
CMD ["driftfold", "serve", "--host", "0.0.0.0", "--port", "8000"]
