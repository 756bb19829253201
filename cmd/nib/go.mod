module github.com/nib-log/nib/cmd/nib

go 1.24.0

require (
	github.com/nib-log/nib v0.0.0
	github.com/spf13/cobra v1.10.2
	golang.org/x/term v0.37.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/sys v0.38.0 // indirect
)

replace github.com/nib-log/nib => ../..
