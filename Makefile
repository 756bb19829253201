# Every verb works over every module of the repository.
MODULES  := $(patsubst %/,%,$(dir $(foreach m,$(wildcard go.mod */go.mod */*/go.mod */*/*/go.mod),$(if $(findstring /testdata/,$m),,$m))))
# The modules with the longest tests, which begin first.
LONGEST  := . allocs dest/kafka/kfaketest cmd/nib e2e e2e/kafka e2e/view
SORTED   := $(filter $(MODULES),$(LONGEST)) $(filter-out $(LONGEST),$(MODULES))
# Modules that need servers, disks, a browser or many other modules, as bench does
# for all contestants.
E2E      := $(filter bench e2e e2e/% %/e2e examples/shop,$(SORTED))
# Modules whose tests need only Go.
TESTED   := $(filter-out $(E2E),$(SORTED))
# Modules with code that services run, where memory is shared.
RACED    := $(filter . bridge/% dest/% cmd/nib,$(TESTED))
# Packages without the race detector: one has rules for texts, the other puts the
# packages of cmd/nib together, and shares only what these have.
UNRACED  ?= internal/arch|cmd/nib/command
# Modules that require hundreds of others: to compile these is most of the work.
LARGE    := $(filter allocs/e2e e2e/metrics e2e/kubernetes e2e/recipes examples/shop,$(MODULES))
GO       ?= go
TESTER   ?= $(GO) test
# Code without tables for debuggers compiles in an eighth less time. It is for
# steps with flags that share no cache with the builds of developers anyway.
NODWARF  := -gcflags=all=-dwarf=0
VET      := $(GO) vet -vettool=$(CURDIR)/.ci/vet
# Tables for debuggers are a third of the time to link a test. Beside other work,
# or with an empty build cache, a package may take longer than 10 minutes, and
# with all cases an hour.
TEST     := $(TESTER) -vet=off -ldflags=-w -timeout $(if $(filter full,$(NIB_E2E)),3h,30m)
FUZZTIME ?= 10s
# The releases on which the promises are checked: the root's go line to the newest.
RELEASES ?= go1.24.13 go1.25.5 go1.26.8 go1.27.4
# Directories in which allocations are counted on each release, the others on the
# first one: they have the event, its encoding and its pools.
ON_NEWEST ?= $(CURDIR)/([^/]*|(internal/(loggertest|plan|jsonenc)|pool|sink)/[^/]*)$$
NEWEST   := GOTOOLCHAIN=$(lastword $(RELEASES))
# What is tested on other processors, under emulation; faults of mappings cannot
# be: what depends on the order of bytes, and what is different on arm64.
EMULATED ?= ./internal/jsonenc ./internal/jsonread ./sink/spool/internal/segment
ON_ARM64 ?= $(if $(filter ./...,$(EMULATED)),./...,./internal/callsite ./internal/vfs)
# Packages that are not emulated: one reads the state of sockets, one starts the
# file of its process, and the tests of the last one would take an hour.
UNEMULATED := dest/syslog|setup|sink/spool
SYSTEMS  ?= linux/386 darwin/arm64 windows/amd64
# Where the crash suite writes its table, if anywhere: make e2e NIB_E2E=full E2E_TABLE=$$PWD/e2e/crash/results.md
E2E_TABLE ?=
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GREMLINS    := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

# All clones of the repository share one build cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)
# Tests that choose cases choose the same ones for one tree.
export NIB_SEED ?= $(shell printf '%d' 0x$$(git rev-parse HEAD^{tree} 2>/dev/null | cut -c1-12))
# Three steps at a time, since many wait for servers and processes that they
# start; the output of each in one piece.
JOBS     ?= 3
MAKEFLAGS += -j$(JOBS) -Otarget

.PHONY: help pictures demo check form versions gofmt compile arch test race alloc gate fuzz lint mutate vuln bench nibbench compare e2e table cross release release-check apidiff exported \
	$(foreach verb,vet test short race lint e2e fuzz,$(MODULES:%=$(verb)/%)) $(SYSTEMS:%=vet/%) $(RELEASES:%=alloc/%)

help: ## list the verbs
	@grep -hE '^[a-z0-9-]+:.*##' Makefile | sed -E 's/:[^#]*## / \t/' | expand -t 15

demo: ## a real HTTP service, its access log, and proof that nothing is lost
	@.ci/step '$@' 'cd cmd/demo && $(GO) run . $(DEMO)'

check: form $(TESTED:%=short/%) ## form and the short tests, with nothing but Go: before each commit

test: arch $(TESTED:%=test/%) ## all tests of all modules that need nothing but Go

# The form of the sources. It finds text that is not formatted, code that does
# not compile (tests included, on each system) and what vet knows, arrows,
# budgets and words.
form: gofmt versions arch-short $(addprefix vet/,$(filter-out $(LARGE),$(MODULES))) vet-newest vet-tags $(SYSTEMS:%=vet/%) ## gofmt, one version of each dependency, the rules of the architecture, vet of every module and system

gofmt:
	@.ci/step '$@' 'out=$$($$($(NEWEST) $(GO) env GOROOT)/bin/gofmt -l .); [ -z "$$out" ] || { echo "gofmt -w would change:"; echo "$$out"; exit 1; }'

versions: ## all modules require the same version of each dependency
	@.ci/step '$@' 'awk -f .ci/versions $(MODULES:%=%/go.mod)'

arch-short:
	@.ci/step '$@' '$(TEST) -short -count=1 ./internal/arch/'

arch: ## the rules of the architecture, with those that build programs
	@.ci/step '$@' '$(TEST) -count=1 ./internal/arch/'

$(MODULES:%=vet/%): vet/%:
	@.ci/step '$@' 'cd $* && $(VET) ./...'

# Steps that begin at the same time with an empty build cache compile the same
# packages, each for itself. So the root module is compiled before other steps
# begin, a module before those of ours that require it, and what staticcheck
# consists of in the first step that runs it.
compile:
	@.ci/step '$@' '$(GO) build ./...'
arch arch-short vet-tags $(foreach verb,vet short test,$(MODULES:%=$(verb)/%)): | compile
required = $(filter $(MODULES),$(shell sed -n 's|^[^/]*github.com/nib-log/nib/\(.*\) v.*|\1|p' $1/go.mod))
$(foreach m,$(filter-out $(LARGE),$(MODULES)),$(eval vet/$m: | $(patsubst %,vet/%,$(call required,$m))))
vet/dest/kafka/embedded: | vet/dest/kafka
$(patsubst %,lint/%,$(filter-out .,$(MODULES))): | lint/.
$(if $(filter lint,$(MAKECMDGOALS)),$(LARGE:%=vet/%): vet/%: | lint/%)
$(if $(filter alloc,$(MAKECMDGOALS)),gate: | alloc)

# Where nothing runs, vet needs what the packages export, not fast code.
$(SYSTEMS:%=vet/%): vet/%:
	@.ci/step '$@' 'export GOOS=$(*D) GOARCH=$(*F) CGO_ENABLED=0 && $(VET) $(if $(filter %/386,$*),$(NODWARF),-gcflags=all="-N -l -dwarf=0") ./...'

# event_go127.go is the only file that the newest release alone compiles.
vet-newest:
	@.ci/step '$@' '$(NEWEST) $(VET) .'

vet-tags:
	@.ci/step '$@' '$(VET) -tags invariants ./pool/... ./internal/jsonenc'

$(TESTED:%=short/%): short/%:
	@.ci/step '$@' 'cd $* && $(GO) list ./... | grep -v internal/arch | xargs $(TEST) -short'

$(TESTED:%=test/%): test/%:
	@.ci/step '$@' 'cd $* && $(GO) list ./... | grep -v internal/arch | xargs $(TEST)'

# Races, and misuse that the tag invariants detects, in the packages that import
# sync or sync/atomic, tests included. Allocations are counted without -race. All
# cases of NIB_E2E=full, some of which limit the memory, run in test.
race: $(RACED:%=race/%) race-pool ## race detector and misuse checks, where memory is shared
$(RACED:%=race/%): race/%:
	@.ci/step '$@' 'cd $* && $(GO) list -f "{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}" ./... | grep -vE "^[^ ]*/($(UNRACED)) " | awk "/[[ ]sync(\/atomic)?[] ]/ { print \$$1 }" | NIB_E2E= xargs -r $(TEST) $(NODWARF) -race -tags invariants -short -skip "(?i)alloc"'

# What the steps of race have in common.
race-compile:
	@.ci/step '$@' 'for m in . dest/kafka; do (cd $$m && $(GO) build $(NODWARF) -race -tags invariants ./...); done'

# The tag invariants replaces the fast path of pools.
race-pool:
	@.ci/step '$@' 'NIB_E2E= $(TEST) $(NODWARF) -race -short -skip "(?i)alloc" ./pool/...'

# Allocations that one release makes and another one does not. The oldest release
# keeps the fewest values on the stack.
alloc: $(RELEASES:%=alloc/%) ## exact allocation counts on every supported Go release, in the packages that have such tests
$(RELEASES:%=alloc/%): alloc/%:
	@.ci/step '$@' 'for m in . $(wildcard bridge/*); do \
		cd $(CURDIR)/$$m; least=$$(go list -m -f "{{.GoVersion}}"); \
		[ "$$(printf "%s\n" $$least $(*:go%=%) | sort -V | head -1)" = $$least ] || continue; \
		files=$$($(GO) list -f "{{range .TestGoFiles}}{{\$$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{\$$.Dir}}/{{.}} {{end}}" ./...); \
		[ $* = $(firstword $(RELEASES)) ] || files=$$(printf "%s\n" $$files | grep -E "$(ON_NEWEST)" || true); \
		dirs=$$({ grep -lEi "^func Test.*alloc" $$files /dev/null || true; } | xargs -r -n1 dirname | sort -u); \
		[ -z "$$dirs" ] || GOTOOLCHAIN=$* $(TEST) -count=1 -run "(?i)alloc" $$dirs; \
	done'

# Code that depends on the size of int, on alignment or on the order of bytes.
cross: cross/386 cross/arm64 cross/s390x ## unit tests on 386, and on arm64 and s390x where qemu-user is installed
cross/386:
	@.ci/step '$@' 'GOARCH=386 CGO_ENABLED=0 NIB_E2E= $(TEST) $(NODWARF) -short . ./internal/loggertest ./schema ./pool/... $(EMULATED)'
cross/arm64: emulator := qemu-aarch64-static
cross/arm64: emulated := $(ON_ARM64)
cross/s390x: emulator := qemu-s390x-static
cross/s390x: emulated := $(EMULATED)
cross/arm64 cross/s390x: cross/%:
	@.ci/step '$@' 'command -v $(emulator) >/dev/null || { echo "skipped, there is no $(emulator)"; exit 0; }; \
		GOARCH=$* CGO_ENABLED=0 NIB_E2E= $(TEST) $(NODWARF) -short -exec "$(CURDIR)/.ci/emulate $(emulator)" \
			$$($(GO) list $(emulated) | grep -vE "/($(UNEMULATED))$$")'

fuzz: ## every fuzz target, FUZZTIME each
	@.ci/step '$@' '.ci/fuzz $(FUZZTIME) . $(wildcard bridge/*) dest/kafka dest/otlp/otlptest'

# A line of an event that allocates on some release.
gate: ## which lines of nib's own events allocate, on each of RELEASES, by its own tool
	@.ci/step '$@' 'cd allocs && $(NEWEST) $(GO) run ./cmd/allocs -C .. --plain --bench "" --log-calls=false --root "github.com/nib-log/nib.(*Event).*" \
		$(foreach r,$(RELEASES),--go $(basename $(r:go%=%))) --baseline nib.baseline.json .'

# Code that is not used, and the faults that staticcheck knows.
lint: $(MODULES:%=lint/%) $(addprefix vet/,$(LARGE)) ## staticcheck of every module
$(MODULES:%=lint/%): lint/%:
	@.ci/step '$@' 'cd $* && $(GO) run $(STATICCHECK) ./...'

exported: ## every name that the public packages export, and how many there are
	@$(GO) test -count=1 -v -run TestExportedNames ./internal/arch/ | sed -n "s/^ *rules_test.go:[0-9]*: //p"

mutate: ## what the tests of a package do not notice: make mutate PKG=./sampling (MODULE=cmd/nib FLAGS="--invert-logical")
	cd $(or $(MODULE),.) && $(GO) run $(GREMLINS) unleash --output-statuses lt $(FLAGS) $(PKG)

vuln: ## known vulnerabilities; says "skipped" where their database cannot be reached
	@for m in $(MODULES); do out=$$(cd $$m && $(GO) run $(GOVULNCHECK) ./... 2>&1); rc=$$?; case "$$rc $$out" in \
		0*) echo "== $$m: no known vulnerabilities";; \
		*"fetching vulnerabilities"*) echo "== $$m: skipped, the database cannot be reached"; exit 0;; \
		*) echo "== $$m"; echo "$$out"; exit 1;; esac; done

bench: ## measure beside the peers, then make the tables (BENCH=-quick for a look)
	cd bench && $(GO) run ./cmd/nibbench $(BENCH)
	$(MAKE) table

nibbench: ## that all contestants run and agree, not what they take
	@.ci/step '$@' 'cd bench && $(GO) run ./cmd/nibbench -quick'

compare: ## is any row of nib's slower than at BASE, in the sets of COMPARE
	.ci/compare $(BASE) $(or $(COMPARE),calls pools files spool)

table: ## tables in README and docs, and the console's picture: from the stored results, and the demo
	$(GO) test -count=1 -run '^TestPicture$$' ./sink/console -update
	cd bench && $(GO) run ./cmd/table

# What only real servers, disks, browsers and killed processes show.
e2e: $(if $(filter full,$(NIB_E2E)),,e2e-sinks) $(E2E:%=e2e/%) ## real servers, disks and browsers: killed, cut off, full (NIB_E2E=full for all of them and the long counts)
# Only the steps of e2e have NIB_E2E=short; NIB_E2E=full, as a setting of make, is
# for all steps, which then run all cases: make test has those of e2e-sinks then.
E2E_TEST = NIB_E2E=$(or $(NIB_E2E),short) $(TEST) $(if $(filter full,$(NIB_E2E)),,-short) -count=1
e2e-sinks:
	@.ci/step '$@' '$(E2E_TEST) -run E2E ./sink/stdout/ ./sink/file/ ./sink/spool/'
$(E2E:%=e2e/%): e2e/%:
	@.ci/step '$@' 'cd $* && NIB_E2E_TABLE=$(E2E_TABLE) $(E2E_TEST) -p 1 ./...'

pictures: ## the screenshots in docs, by chromium
	@dir=$$(mktemp -d); (cd e2e/view && NIB_E2E=short NIB_E2E_PICTURES=$$dir $(GO) test -count=1 -run Pictures .) && \
		cp $$dir/view-1400-light.png $$dir/view-1400-light-range.png $$dir/view-1400-dark-detail.png docs/; rm -r $$dir

# A version that users cannot fetch, build or follow the documents with.
release-check: ## what users do with a version, from packed modules and outside the checkout: make release-check VERSION=v0.1.0
	@.ci/step '$@' 'cd internal/release && $(GO) run . -C $(CURDIR) -version $(or $(VERSION),v0.1.0)'

release: vuln ## check, build and tag a version; prints the commands only, unless RELEASE=-yes: make release VERSION=v0.1.0
	@.ci/release "$(VERSION)" $(RELEASE)

apidiff: ## how the API differs from the last release, or from BASE; fails on an incompatible change
	@.ci/apidiff $(BASE)
