module github.com/nib-log/nib/bridge/nibhclog

go 1.24

require (
	github.com/hashicorp/go-hclog v1.6.3
	github.com/nib-log/nib v0.1.0
)

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	golang.org/x/sys v0.35.0 // indirect
)

replace github.com/nib-log/nib => ../..
