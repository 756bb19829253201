module github.com/nib-log/nib/bridge/niblogr

go 1.24

require (
	github.com/go-logr/logr v1.4.4
	github.com/nib-log/nib v0.1.0
)

replace github.com/nib-log/nib => ../..
