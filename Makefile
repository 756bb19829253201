# Every verb works over every module of the repository.
MODULES  := $(patsubst %/,%,$(dir $(foreach m,$(wildcard go.mod */go.mod */*/go.mod */*/*/go.mod),$(if $(findstring /testdata/,$m),,$m))))
# Modules that need servers, disks or many others, and those whose tests need only Go.
E2E      := $(filter e2e e2e/% %/e2e examples/shop,$(MODULES))
TESTED   := $(filter-out $(E2E),$(MODULES))
GO       ?= go
# Beside other work, or with an empty build cache, a suite may take more than the default of 10 minutes.
TEST     := $(GO) test -timeout 30m
FUZZTIME ?= 10s
# The releases that the promises are checked on: the root's go line to the newest.
RELEASES ?= go1.24.13 go1.25.5 go1.26.8 go1.27.4
NEWEST   := GOTOOLCHAIN=$(lastword $(RELEASES))
FAST     := . ./pool/... ./internal/callsite ./internal/clock# what nibfast changes
# What is tested on other processors, under emulation; faults of mappings cannot be.
EMULATED ?= . ./schema ./internal/jsonenc ./internal/jsonread ./internal/stdio ./nibslog ./pool ./sink/stdout ./sink/spool/internal/...
TARGETS  ?= linux/amd64 linux/arm64 linux/386 darwin/arm64 windows/amd64
# Where the crash suite writes its table, if anywhere: make e2e NIB_E2E=full E2E_TABLE=$$PWD/docs/reliability.md
E2E_TABLE ?=
RELEASE_TOOL := cd internal/release && $(GO) run .
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

each = @set -e; for m in $(1); do echo "== $$m: $(2)"; (cd $$m && $(2)); done

.PHONY: help pictures demo check test race alloc gate fuzz lint mutate vuln bench compare e2e table cross arch release release-check apidiff
help: ## list the verbs
	@grep -hE '^[a-z0-9-]+:.*##' Makefile | sed -E 's/:[^#]*## / \t/' | expand -t 15

demo: ## a real HTTP service, its access log, and proof that nothing is lost
	@cd cmd/nib && $(GO) run . demo $(DEMO)

check: ## formatting, vet and the short tests, with nothing but Go: before each commit
	@out=$$(gofmt -l . 2>/dev/null); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi # vet finds errors of syntax
	$(call each,$(TESTED),$(GO) vet ./... && $(TEST) -short -vet=off ./...)

test: arch ## all tests of all modules
	$(call each,$(TESTED),$(TEST) ./...)

arch: ## the architecture's rules and budgets, never from the cache
	$(GO) test -count=1 ./internal/arch/

# Vet is part of lint, and internal/arch only reads sources.
race: ## race detector, misuse checks and the nibfast build
	$(call each,. $(wildcard examples cmd/nib bridge/* dest/kafka dest/kafka/kfaketest dest/otlp dest/otlp/otlptest dest/elastic),$(GO) list ./... | grep -v internal/arch | xargs $(TEST) -race -short -vet=off)
	@set -e; for tags in invariants nibfast; do echo "== .: -tags $$tags"; $(GO) list ./... | grep -v internal/arch | xargs $(TEST) -short -vet=off -tags $$tags; done
	$(TEST) -race -short -vet=off -tags nibfast $(FAST)
	$(call each,$(wildcard bridge/*),$(TEST) -short -vet=off -tags nibfast -run '(?i)(caller|callsite|depth)' ./...)

alloc: ## exact allocation counts on every supported Go release, in the packages that have such tests
	@set -e; for m in . $(wildcard bridge/*) dest/otlp dest/elastic; do cd $$m; \
		dirs=$$(grep -lEi '^func Test.*alloc' $$($(GO) list -f '{{.Dir}}/*_test.go' ./...) 2>/dev/null | xargs -r -n1 dirname | sort -u); test -n "$$dirs" -o $$m != .; \
		for r in $$(printf '%s\n' $(RELEASES) | awk -v least=go$$($(GO) list -m -f '{{.GoVersion}}') '$$0 "." >= least "."'); do for tags in none nibfast; do echo "== $$m: $$r -tags $$tags"; \
		GOTOOLCHAIN=$$r $(GO) test -count=1 -vet=off -tags $$tags -run '(?i)alloc' $$dirs; done; done; cd $(CURDIR); done

fuzz: ## every fuzz target, FUZZTIME each
	.ci/fuzz $(FUZZTIME) . $(wildcard bridge/*) dest/kafka dest/otlp/otlptest allocs

gate: ## which lines of nib's own events allocate, on every release, by its own tool
	cd allocs && $(NEWEST) $(GO) run ./cmd/allocs -C .. --plain --bench "" --log-calls=false --root 'github.com/nib-log/nib.(*Event).*' \
		--go 1.24,1.25,1.26,1.27 --baseline nib.baseline.json .

lint: ## formatting, vet and staticcheck, with the newest release
	@out=$$($$($(NEWEST) $(GO) env GOROOT)/bin/gofmt -l .); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	$(call each,$(MODULES),$(NEWEST) $(GO) vet ./...)
	$(NEWEST) $(GO) vet -tags nibfast ./... && $(NEWEST) $(GO) vet -tags invariants ./...
	$(call each,$(MODULES),$(NEWEST) $(GO) run $(STATICCHECK) ./...)

exported: ## every name that the public packages export, and how many there are
	@$(GO) test -count=1 -v -run TestExportedNames ./internal/arch/ | sed -n "s/^ *exports_test.go:[0-9]*: //p"

mutate: ## what tests miss: make mutate PKG=./sink/spool/internal/store ONLY=dir.go PART=1/4 FLAGS="-together -tests=.,../.."
	cd internal/mutate && $(GO) run . $(if $(ONLY),-only $(ONLY)) $(if $(PART),-part $(PART)) $(FLAGS) $(CURDIR)/$(PKG)

vuln: ## known vulnerabilities; says "skipped" where their database cannot be reached
	@for m in $(MODULES); do out=$$(cd $$m && $(GO) run $(GOVULNCHECK) ./... 2>&1); rc=$$?; case "$$rc $$out" in \
		0*) echo "== $$m: no known vulnerabilities";; \
		*"fetching vulnerabilities"*) echo "== $$m: skipped, the database cannot be reached"; exit 0;; \
		*) echo "== $$m"; echo "$$out"; exit 1;; esac; done

cross: ## build and vet for the other systems; unit tests on 386, and on arm64 and s390x where qemu-user is installed (EMULATED=./... for all)
	@set -e; for t in $(TARGETS); do echo "== $$t"; export GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0; \
		$(GO) build ./...; $(GO) vet ./...; $(GO) build -tags nibfast ./...; $(GO) vet -tags nibfast $(FAST); done
	@echo "== 386: test"; $(GO) list ./... | grep -v internal/arch | GOARCH=386 CGO_ENABLED=0 xargs $(TEST) -short -vet=off
	@set -e; for t in arm64/aarch64 s390x/s390x; do emulator=qemu-$${t#*/}-static; echo "== $${t%/*}: test"; \
		if ! command -v $$emulator >/dev/null; then echo "skipped, there is no $$emulator"; continue; fi; \
		$(GO) list $(EMULATED) | grep -v internal/arch | GOARCH=$${t%/*} CGO_ENABLED=0 xargs $(TEST) -short -vet=off -exec "$(CURDIR)/.ci/emulate $$emulator"; done

bench: ## measure beside the peers in both builds, then make the tables (BENCH=-quick for a look)
	cd bench && $(GO) run ./cmd/nibbench $(BENCH) && $(GO) run -tags nibfast ./cmd/nibbench $(BENCH)
	$(MAKE) table

compare: ## is any row of nib's slower than at BASE (COMPARE="-set pools -turns 8")
	cd bench && $(GO) run ./cmd/compare -base $(BASE) $(COMPARE)

table: ## tables and pictures in README and docs: the console's from the demo, others from the stored results
	$(GO) test -count=1 -run '^TestPicture$$' ./sink/console -update
	cd bench && $(GO) run ./cmd/table

e2e: export NIB_E2E := $(or $(NIB_E2E),short)
e2e: ## real servers, disks and browsers, other projects: killed, cut off, full (NIB_E2E=full for the long counts, NIB_SEED to repeat a run)
	$(GO) test -count=1 -run 'E2E' ./sink/stdout/ ./sink/file/ ./sink/spool/
	cd bench && $(GO) test -count=1 -v -run 'Rotat' ./files/
	cd allocs && $(GO) test -count=1 -timeout 90m -v -run 'E2E|Experiment|OldRelease|EveryFix' ./command ./internal/check
	cd allocs/docgen && $(GO) test -count=1 -timeout 90m -v -run 'E2E|Experiment' ./...
	$(call each,$(E2E),NIB_E2E_TABLE=$(E2E_TABLE) $(GO) test -count=1 -p 1 -timeout 30m -v ./...)

pictures: ## the screenshots in docs, by chromium
	@dir=$$(mktemp -d); (cd e2e/view && NIB_E2E=short NIB_E2E_PICTURES=$$dir $(GO) test -count=1 -run Pictures .) && \
		cp $$dir/view-1400-light.png $$dir/view-1400-light-range.png $$dir/view-1400-dark-detail.png docs/; rm -r $$dir

release-check: ## what users do with a version, from packed modules and outside the checkout: make release-check VERSION=v0.1.0
	@$(RELEASE_TOOL) check -C $(CURDIR) -version $(or $(VERSION),v0.1.0)

release: vuln ## check, build and tag a version; prints the commands only, unless RELEASE=-yes: make release VERSION=v0.1.0
	@$(RELEASE_TOOL) tag -C $(CURDIR) -version "$(VERSION)" $(RELEASE)

apidiff: ## how the API differs from the last release, or from BASE; fails on an incompatible change
	@$(RELEASE_TOOL) apidiff -C $(CURDIR) -base "$(BASE)"
