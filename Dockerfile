# The reference pipeline: `reporting serve` by default, `collector` and `engine` by argument.
# BASE is any image with Python 3.11 or newer and venv; PIP_OPTIONS lets a build without an index
# name its wheels, e.g. "--no-index --find-links /src/wheels".
ARG BASE=python:3.13.5-slim-bookworm

FROM ${BASE} AS build
ARG PIP_OPTIONS=""
COPY . /src
RUN python3 -m venv /opt/tally \
 && /opt/tally/bin/pip install --no-cache-dir --disable-pip-version-check ${PIP_OPTIONS} "/src[postgres]" \
 && /opt/tally/bin/pip uninstall --yes --quiet pip setuptools

FROM ${BASE}
RUN rm -rf /usr/local/lib/python3.*/site-packages/pip* /usr/local/bin/pip* /usr/share/python-wheels \
 && useradd --system --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin tally
COPY --from=build /opt/tally /opt/tally
ENV PATH=/opt/tally/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    TALLY_REPORTING_HTTP_ADDR=0.0.0.0 \
    TALLY_OSC_HTTP_ADDR=0.0.0.0
USER 10001
WORKDIR /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=4s --start-period=30s --retries=3 \
  CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=3)"]
ENTRYPOINT ["tally-harness"]
CMD ["reporting", "serve"]
