// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/target"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

const manifest = "../../examples/kubernetes/orders.yaml"

// documents decodes the manifest as strictly as an API server with
// fieldValidation=Strict: fields that do not exist and those that are there
// twice are errors.
func documents(t *testing.T) (ns corev1.Namespace, service corev1.Service, set appsv1.StatefulSet) {
	t.Helper()
	text, err := os.ReadFile(manifest)
	must.Succeed(t, err)
	parts := bytes.Split(text, []byte("\n---\n"))
	into := []any{&ns, &service, &set}
	if len(parts) != len(into) {
		t.Fatalf("got %d documents, want %d", len(parts), len(into))
	}
	for i, part := range parts {
		if err := yaml.UnmarshalStrict(part, into[i]); err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
	return ns, service, set
}

func TestKinds(t *testing.T) {
	ns, service, set := documents(t)
	for _, c := range []struct{ got, want string }{
		{ns.APIVersion + " " + ns.Kind, "v1 Namespace"},
		{service.APIVersion + " " + service.Kind, "v1 Service"},
		{set.APIVersion + " " + set.Kind, "apps/v1 StatefulSet"},
		{set.Spec.ServiceName, service.Name},
		{set.Namespace, ns.Name},
		{service.Namespace, ns.Name},
		{service.Spec.Selector["app"], set.Spec.Template.Labels["app"]},
		{set.Spec.Selector.MatchLabels["app"], set.Spec.Template.Labels["app"]},
	} {
		if c.got != c.want || c.got == "" {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The pod passes the level restricted, by the code of the admission controller,
// and the namespace demands it.
func TestRestricted(t *testing.T) {
	ns, _, set := documents(t)
	if got := ns.Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("the namespace enforces %q", got)
	}
	check := func(spec *corev1.PodSpec) policy.AggregateCheckResult {
		evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
		must.Succeed(t, err)
		level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
		return policy.AggregateCheckResults(evaluator.EvaluatePod(level, &set.Spec.Template.ObjectMeta, spec))
	}
	spec := &set.Spec.Template.Spec
	if got := check(spec); !got.Allowed {
		t.Errorf("not allowed: %s", got.ForbiddenDetail())
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
			t.Errorf("%s may write to its image", c.Name)
		}
	}
	spec.InitContainers[0].SecurityContext.AllowPrivilegeEscalation = nil
	if got := check(spec); got.Allowed {
		t.Error("a container that may gain privileges is allowed, too")
	}
}

// The service and the relay have the same spools, as the same user, on a volume
// that outlives the pod.
func TestSpools(t *testing.T) {
	_, _, set := documents(t)
	spec := set.Spec.Template.Spec
	claim := set.Spec.VolumeClaimTemplates[0].Name
	all := slices.Concat(spec.InitContainers, spec.Containers)
	if len(all) != 2 {
		t.Fatalf("got %d containers", len(all))
	}
	for _, c := range all {
		if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != claim || c.VolumeMounts[0].MountPath != "/spool" {
			t.Errorf("%s: mounts %v", c.Name, c.VolumeMounts)
		}
		if c.SecurityContext.RunAsUser != nil {
			t.Errorf("%s has a user of its own", c.Name)
		}
	}
	relay := spec.InitContainers[0]
	if relay.RestartPolicy == nil || *relay.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Error("the relay is not a sidecar")
	}
	if got := strings.Join(relay.Args, " "); !strings.HasPrefix(got, "relay /spool --to kafka://") {
		t.Errorf("the relay's arguments: %s", got)
	}
}

// The service's only variable is a valid configuration: a spool on the volume,
// and the destination that the relay has.
func TestVariablesOfTheService(t *testing.T) {
	_, _, set := documents(t)
	spec := set.Spec.Template.Spec
	for _, e := range spec.Containers[0].Env {
		t.Setenv(e.Name, e.Value)
	}
	c, err := setup.Read(setup.FromEnv("NIB"), setup.Kinds(kafka.Kind))
	if err != nil || len(c.Output) != 1 {
		t.Fatalf("got the outputs %q and %v, want one", c.Output, err)
	}
	kinds := []target.Spec{kafka.Kind}
	args := spec.InitContainers[0].Args
	relay, _, err := target.Parse(args[slices.Index(args, "--to")+1], kinds)
	must.Succeed(t, err)
	var spooled struct {
		Spool string `set:"spool"`
		Size  string `set:"spool_size"`
	}
	service, _, err := target.Parse(c.Output[0], kinds, &spooled)
	must.Succeed(t, err)
	if service.Host != relay.Host || service.Path != relay.Path {
		t.Errorf("the service delivers to %s, the relay to %s", service, relay)
	}
	if mount := spec.Containers[0].VolumeMounts[0].MountPath; !strings.HasPrefix(spooled.Spool, mount+"/") {
		t.Errorf("the spool is %s, want a directory in %s", spooled.Spool, mount)
	}
	size, err := resource.ParseQuantity(strings.TrimSuffix(spooled.Size, "B"))
	room := set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage()
	if err != nil || 2*size.Value() > room.Value()*9/10 {
		t.Errorf("the spool and its copies may have twice %s (%v), and the volume has %v", spooled.Size, err, room)
	}
}
