module github.com/nib-log/nib/bridge/niblogrus

go 1.24

require (
	github.com/nib-log/nib v0.1.0
	github.com/sirupsen/logrus v1.10.2
)

require golang.org/x/sys v0.35.0 // indirect

replace github.com/nib-log/nib => ../..
