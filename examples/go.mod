module github.com/nib-log/nib/examples

go 1.24.0

require (
	github.com/nib-log/nib v0.1.0
	golang.org/x/term v0.37.0
)

require golang.org/x/sys v0.38.0 // indirect

replace github.com/nib-log/nib => ..
