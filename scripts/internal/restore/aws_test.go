package main

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
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
