module github.com/nib-log/nib/e2e/guides

go 1.26.0

require (
	github.com/nib-log/nib v0.1.0
	github.com/rs/zerolog v1.35.1
	go.uber.org/zap v1.28.0
)

require (
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/nib-log/nib => ../..
