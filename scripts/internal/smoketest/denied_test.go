package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/testkit/wire"
)

func TestAStepThatFailsForWantOfARightNamesTheRights(t *testing.T) {
	refusal := func(status int, code string) wire.Answer {
		return wire.Answer{
			Status: status,
			Body:   []byte(`{"error":{"code":"` + code + `","message":"x","request_id":"req-1"}}`),
		}
	}
	store, read := step{rights: "of upload: to put U#*"}, step{rights: "of content: s3:GetObject", reads: true}
	for name, tt := range map[string]struct {
		step step
		err  error
		want []string // empty: no advice
	}{
		"a table": {store, &wire.Refused{Answer: refusal(503, "database_unavailable")},
			[]string{`"req-1"`, "U#*", "narrow-writes=no"}},
		"files": {store, &wire.Refused{Answer: refusal(503, "storage_unavailable")}, []string{`"req-1"`, "U#*"}},
		"a file that is read": {
			read, fmt.Errorf("%w, not 200", unexpected{Answer: refusal(404, "not_found")}),
			[]string{"object_denied", `"req-1"`, "s3:GetObject"},
		},
		"a signed URL": {store, unexpected{Answer: wire.Answer{Status: http.StatusForbidden,
			Body: []byte("<Error/>")}}, []string{"S3 refuses", "U#*"}},
		"a page that is absent": {store, &wire.Refused{Answer: refusal(404, "not_found")}, nil},
		"a limit":               {read, &wire.Refused{Answer: refusal(429, "rate_limited_actor")}, nil},
		"no answer":             {read, errors.New("no route to host"), nil},
	} {
		got := denied(tt.step, tt.err)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", name, got, want)
			}
		}
		if len(tt.want) == 0 && got != "" {
			t.Errorf("%s: it says %q", name, got)
		}
	}
}
