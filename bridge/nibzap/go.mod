module github.com/nib-log/nib/bridge/nibzap

go 1.24

require (
	github.com/nib-log/nib v0.1.0
	go.uber.org/zap v1.28.0
)

require go.uber.org/multierr v1.11.0 // indirect

replace github.com/nib-log/nib => ../..
