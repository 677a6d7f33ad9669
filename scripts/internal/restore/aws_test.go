package main

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

func TestWhatCannotBeADeploymentIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		region string
		args   []string
		want   string
	}{
		{"a name that leads elsewhere", "eu-west-1", []string{"plan", "../../tmp", "--at", "2026-01-31T10:00:00Z"},
			"no name of a deployment"},
		{"no region", "", []string{"plan", "Nowhere", "--at", "2026-01-31T10:00:00Z"}, "set AWS_REGION"},
		{"a deployment that was never deployed", "eu-west-1", []string{"abandon", "Nowhere"}, "nothing is known of Nowhere"},
		{"an artifact of a deployment that was never deployed", "eu-west-1",
			[]string{"artifact", "art_3Q0WNWN6SVKA583PTYSN6R8356", "Nowhere", "--at", "2026-01-31T10:00:00Z"},
			"nothing is known of Nowhere"},
		{"a bucket of one machine", "eu-west-1", []string{"run", "--data", "new", "--from", "copy", "--bucket", "b"},
			"are for AWS"},
		{"files for a later command", "eu-west-1", []string{"open", "Nowhere", "--files", "s3://b"}, "goes on with what run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("AWS_REGION", tt.region)
			t.Setenv("AWS_DEFAULT_REGION", "")
			t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
			var out, complaints bytes.Buffer
			code := run(t.Context(), tt.args, tool{out: &out, complaints: &complaints, now: time.Now})
			expect.Has(t, "the complaint", complaints.String(), tt.want)
			if code != 1 || out.Len() > 0 {
				t.Errorf("ended with %d and said %s", code, out.String())
			}
		})
	}
}

func TestTheLimitsOfADeploymentAreThoseOfItsPolicy(t *testing.T) {
	root := t.TempDir()
	disk.Write(t, root, map[string]string{
		"owner.json":  `{"members": {"pinned_artifacts": 7}}`,
		"broken.json": `{"members": {"pinned_artifacts": "many"}}`,

		"data/policy.json":       `{"members": {"pinned_artifacts": 7}}`,
		"copy/rings/policy.json": `{"members": {"pinned_artifacts": 7}}`,
	})
	for name, tt := range map[string]struct {
		options map[string]string
		pins    int
	}{
		"where no plan is sold": {nil, limits.MaxPins},
		"where plans are sold":  {map[string]string{"stripe-key": "arn"}, limits.Default().Tiers[limits.Free].LiveArtifacts},
		"of the owner":          {map[string]string{"policy": "owner.json"}, 7},
	} {
		got := expect.Value(limitsIn(root)(tt.options))(t)
		if n := got.Tiers[limits.Free].LiveArtifacts; n != tt.pins {
			t.Errorf("%s members pin %d, want %d", name, n, tt.pins)
		}
	}
	_, err := limitsIn(root)(map[string]string{"policy": "broken.json"})
	expect.Error(t, err, "the policy of the deployment", "pinned_artifacts")
	for name, kept := range map[string]limits.Limits{
		"the data folder": copies.Copy{}.Limits(filepath.Join(root, "data")),
		"the copy":        copies.Copy{Dir: filepath.Join(root, "copy")}.Limits(filepath.Join(root, "none")),
	} {
		if n := kept.Tiers[limits.Free].LiveArtifacts; n != 7 || !kept.Off {
			t.Errorf("with a policy in %s members of one machine pin %d, want 7", name, n)
		}
	}
}
