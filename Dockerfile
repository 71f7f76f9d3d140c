# netpath alone, on Debian 12: `docker build -t netpath .`, then `docker run --rm --network host netpath`.
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make git
WORKDIR /netpath
COPY . .
RUN make build && make install DESTDIR=/image PREFIX=/usr

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        libnl-3-200 libnl-route-3-200 libyaml-0-2 libcurl4 libsqlite3-0 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /image/ /
# Nothing of it needs root.
USER nobody
ENTRYPOINT ["netpath"]
CMD ["watch", "--json"]
