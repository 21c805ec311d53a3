#!/bin/sh
# Makes the namespace and the search attributes that operators find workflows by, unless they are there.
set -eu
temporal operator namespace describe --namespace "$NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$NAMESPACE" --retention "$RETENTION"
# A new namespace is known to the whole server only after its cache was refreshed.
for attempt in 1 2 3 4 5 6; do
  if temporal operator search-attribute create --namespace "$NAMESPACE" \
    --name OrgId --type Keyword --name Provider --type Keyword --name Dataset --type Keyword; then
    exit 0
  fi
  sleep 5
done
exit 1
