module github.com/nib-log/nib/e2e/klog

go 1.26.0

require (
	github.com/go-logr/logr v1.4.4
	github.com/nib-log/nib v0.1.0
	github.com/nib-log/nib/bridge/niblogr v0.1.0
	k8s.io/klog/v2 v2.140.0
	sigs.k8s.io/controller-runtime v0.25.2
)

replace (
	github.com/nib-log/nib => ../..
	github.com/nib-log/nib/bridge/niblogr => ../../bridge/niblogr
)
