# syntax=docker/dockerfile:1
# Two images: "runtime" (the default) runs serve, worker and migrate; "tools" adds PostgreSQL's own programs for backup
# and restore, of the server's major version. Tags name exact versions; to pin the bytes as well, add the digest that
# `docker buildx imagetools inspect IMAGE` prints (image:tag@sha256:...).

FROM node:20.19.5-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run build && npm run size

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
COPY --from=web /src/web/dist web/dist
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/revarch ./cmd/revarch

FROM postgres:16.10-bookworm AS tools
COPY --from=build /out/revarch /usr/local/bin/revarch
USER postgres
ENTRYPOINT ["/usr/local/bin/revarch"]
CMD ["doctor"]

# No shell and no package manager; certificates and an unprivileged user (65532) are there.
FROM gcr.io/distroless/static-debian12:nonroot AS runtime
COPY --from=build /out/revarch /usr/local/bin/revarch
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/revarch"]
CMD ["serve"]
HEALTHCHECK --interval=15s --timeout=6s --start-period=20s CMD ["/usr/local/bin/revarch", "doctor", "--url", "http://127.0.0.1:8080/readyz"]
