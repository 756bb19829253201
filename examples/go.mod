module github.com/nib-log/nib/examples

go 1.24.0

require (
	github.com/nib-log/nib v0.1.0
	golang.org/x/term v0.34.0
)

require golang.org/x/sys v0.35.0 // indirect

replace github.com/nib-log/nib => ..
