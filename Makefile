# RevArch: make run and make test are all a newcomer needs. "make" alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

VERSION ?= $(shell git describe --always --dirty 2>/dev/null || echo dev)

# Tools, pinned. They are built from the Go module proxy into bin/, once for each version.
TEMPORAL_VERSION     := v1.5.1
GOLANGCI_VERSION     := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0

# What the binary and the web app are made from, so that nothing is built again that is current.
GO_SOURCES  := go.mod go.sum $(shell find . \( -path ./.git -o -path ./bin -o -path ./web -o -path ./e2e -o -path ./docs -o -path ./deploy -o -name testdata \) -prune -o \
	-type f ! -name '*_test.go' \( -name '*.go' -o -name '*.sql' -o -name '*.csv' -o -name '*.json' -o -name '*.js' -o -name '*.css' -o -name '*.html' \) -print) \
	$(wildcard web/*.go)
WEB_SOURCES := $(wildcard web/*.json web/*.ts web/index.html) $(shell find web/src web/public -type f ! -name '*.test.ts' ! -name '*.test.tsx')
WEB_MODULES := web/node_modules/.stamp
E2E_MODULES := e2e/node_modules/.stamp
TESTDB      := go run ./testkit/cmd/testdb --

REVARCH_DATASETS ?= ../shared/datasets

.PHONY: help build run dev postgresql test check e2e bench bench-million chaos generate record-replay snapshots datasets-check

help: ## List the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: bin/revarch bin/temporal ## Build the web app, bin/revarch and bin/temporal

run: build ## Run everything on this machine; DEMO=1 adds a demo organization
	@exec bin/revarch up $(if $(DEMO),--demo)

dev: build $(WEB_MODULES) ## Like run, with the web app served by vite and reloaded on every change
	@bin/revarch up $(if $(DEMO),--demo) & up=$$!; trap 'kill $$up 2>/dev/null; wait $$up' EXIT; npm --prefix web run dev

test: bin/temporal $(WEB_MODULES) postgresql ## Run the unit and integration tests: real PostgreSQL, real Temporal
	$(TESTDB) go test ./...
	npm --prefix web test

# A backup needs pg_dump of the server's version. The package that is fetched for machines without PostgreSQL has none, so
# Debian's is installed there.
postgresql:
	@for bin in $$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null) $$(dirname "$$(readlink -f "$$(command -v postgres)" 2>/dev/null)" 2>/dev/null); do \
	  if "$$bin/postgres" --version >/dev/null 2>&1 && "$$bin/pg_dump" --version >/dev/null 2>&1; then exit 0; fi; \
	done; \
	echo "no PostgreSQL with pg_dump on this machine: installing Debian's"; \
	sudo=; [[ $$(id -u) == 0 ]] || sudo=sudo; \
	$$sudo apt-get update -q && $$sudo apt-get install -y -q --no-install-recommends postgresql

e2e: build $(E2E_MODULES) ## Drive the whole product in a headless browser
	npm --prefix e2e test

bench: build ## Measure against COPY and plain handlers; writes BENCHMARKS.md
	go run ./bench

bench-million: ## Affinity and expansion of a million accounts in 1 GiB: minutes, and 10 GB of disk
	go run ./bench -only million

chaos: build ## Kill each process in the middle of a sync and count the rows
	$(TESTDB) go test -count=1 -timeout 30m -tags chaos ./cmd/revarch/...

datasets-check: ## Read the official files in REVARCH_DATASETS (default ../shared/datasets)
	go run ./datasets/check -dir "$(REVARCH_DATASETS)"

## Checks

.PHONY: check-format check-lint check-vet check-workflows check-generated check-modules check-web

check: check-modules check-format check-lint check-vet check-workflows check-generated check-web ## Lint, vet, determinism of workflows, generated files, size of the web app

check-modules:
	go mod tidy -diff

check-format: bin/golangci-lint
	bin/golangci-lint fmt --diff

check-lint: bin/golangci-lint
	bin/golangci-lint run

# What the linters can mend themselves.
.PHONY: fix
fix: bin/golangci-lint
	bin/golangci-lint fmt
	bin/golangci-lint run --fix

check-vet:
	go vet ./...

check-workflows: bin/workflowcheck
	bin/workflowcheck ./workflows/...

check-generated: bin/revarch $(WEB_MODULES)
	bin/revarch openapi bin/openapi.json
	@diff -u api/openapi.json bin/openapi.json || { echo 'api/openapi.json is not current: make generate'; exit 1; }
	npm --prefix web exec -- openapi-typescript "$(CURDIR)/bin/openapi.json" -o "$(CURDIR)/bin/schema.d.ts"
	@diff -u web/src/api/schema.d.ts bin/schema.d.ts || { echo 'web/src/api/schema.d.ts is not current: make generate'; exit 1; }

check-web: $(WEB_MODULES) web/dist/index.html
	npm --prefix web run check
	npm --prefix web run size

## Files that are generated and committed

generate: $(WEB_MODULES) ## Write api/openapi.json and the web app's types from it
	go run ./cmd/revarch openapi api/openapi.json
	npm --prefix web run generate

record-replay: bin/temporal ## Record workflow histories for the replay tests; only on main, when a workflow was added or changed
	$(TESTDB) go test -count=1 -run Record ./workflows/... -args -record

snapshots: ## Rewrite the snapshots of the tools as clients see them
	$(TESTDB) go test -count=1 -run Snapshot ./tools/... -args -update

## What the targets above are made of

bin/revarch: $(GO_SOURCES) web/dist/index.html
	go build -trimpath -ldflags "-X main.version=$(VERSION)" -o $@ ./cmd/revarch

web/dist/index.html: $(WEB_SOURCES) $(WEB_MODULES)
	npm --prefix web run build
	@touch $@

%/node_modules/.stamp: %/package.json %/package-lock.json
	npm --prefix $* ci --no-audit --no-fund
	@touch $@

# The empty stamp bin/.name-version is what a tool depends on: another version is another stamp.
bin/.%:
	@mkdir -p bin
	@touch $@

bin/temporal: bin/.temporal-$(TEMPORAL_VERSION)
	GOBIN="$(CURDIR)/bin" go install github.com/temporalio/cli/cmd/temporal@$(TEMPORAL_VERSION)
	@touch $@

bin/golangci-lint: bin/.golangci-lint-$(GOLANGCI_VERSION)
	GOBIN="$(CURDIR)/bin" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@touch $@

bin/workflowcheck: bin/.workflowcheck-$(WORKFLOWCHECK_VERSION)
	GOBIN="$(CURDIR)/bin" go install go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION)
	@touch $@
