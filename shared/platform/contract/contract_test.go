package contract_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
)

func TestAnInstantIsWrittenInUTCWithMilliseconds(t *testing.T) {
	for name, c := range map[string]struct {
		at   time.Time
		want string
	}{
		"a whole second":      {time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC), `"2026-11-22T18:00:00.000Z"`},
		"microseconds":        {time.Date(2026, 11, 22, 18, 0, 0, 1_999_000, time.UTC), `"2026-11-22T18:00:00.001Z"`},
		"another zone":        {time.Date(2026, 11, 23, 1, 0, 0, 0, time.FixedZone("", 7*3600)), `"2026-11-22T18:00:00.000Z"`},
		"a year of one digit": {time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), `"0001-01-01T00:00:00.000Z"`},
	} {
		got, err := json.Marshal(contract.At(c.at))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestAnInstantThatIsMissingIsNull(t *testing.T) {
	if got := contract.AtOrNull(time.Time{}); got != nil {
		t.Errorf("the zero time is %v", got)
	}
	if got := contract.AtOrNull(time.Unix(1, 0)); got == nil || !got.Equal(time.Unix(1, 0)) {
		t.Errorf("the first second is %v", got)
	}
}

func TestALifetimeIsRoundedDownToSeconds(t *testing.T) {
	expect.Results(t, contract.Seconds, map[time.Duration]int{
		0:                           0,
		time.Second - 1:             0,
		time.Second:                 1,
		time.Hour - time.Nanosecond: 3599,
	})
}

func TestABodyKeepsURLsReadable(t *testing.T) {
	got, err := contract.Encode(map[string]string{"url": "https://a.example/?b=1&c=<2>"})
	if err != nil || string(got) != `{"url":"https://a.example/?b=1&c=<2>"}`+"\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := contract.Encode(make(chan int)); err == nil {
		t.Error("a channel is encoded")
	}
}

// closed are the keys of the shapes to which none may be added, because clients refuse unknown ones, and of what
// holders of a link see, who learn nothing of what the owner is told.
var closed = map[string]struct {
	shape any
	keys  string
}{
	// addressed and skipped are there only for callers who address threads.
	"a publication": {contract.Published{}, "addressed agent_view_url artifact_id bundle expires_at private_url " +
		"revision_content_url revision_id skipped title unlisted_url url"},
	"a bundle":       {contract.Bundle{}, "generated_at retry_after_seconds size_bytes status url"},
	"a file":         {contract.FileContent{}, "body content_type is_binary path sha256 size_bytes"},
	"a new link":     {contract.CreatedLink{}, "artifact_id comments created_at id revision_id type"},
	"a link":         {contract.LinkRow{}, "artifact_id created_at expires_at id revision_id revoked_at type"},
	"links":          {contract.LinkList{}, "artifact_id items"},
	"a revoked link": {contract.RevokedLink{}, "access_link_id revoked_at"},
	"a new workspace": {contract.Provisioned{},
		"api_key_id api_key_secret claim_token claim_token_id workspace_id"},
	"a claim": {contract.Claimed{},
		"artifact_ids claim_token_id destination_workspace_id source_workspace_id"},
	"a caller of MCP":          {contract.MCPWhoami{}, "scopes workspace workspace_member"},
	"a publication by MCP":     {contract.MCPPublished{}, "addressed artifact_id expires_at private_url revision_id skipped title upload_stats"},
	"a visibility":             {contract.Visibility{}, "access_link_id artifact_id private_url revoked_access_link_ids unlisted_url visibility"},
	"the locks of an artifact": {contract.ViewLockdowns{}, "access_link platform"},
	"the public view": {contract.PublicAgentView{}, "app artifact_id bundle created_at description entrypoint ephemeral_tier " +
		"expires_at files files_next_cursor files_total listing rendered_url revision_content_url revision_id " +
		"safety_warnings size_total text_url title"},
	"the threads of a view": {contract.ViewFeedback{}, "open seq url"},
	"a file of a view":      {contract.AgentViewFile{}, "content_type path rendered_url sha256 size_bytes text_url url"},
	"an opened link":        {contract.Resolved{}, "agent_view iframe_src pinned render_mode title"},
}

func TestClosedShapesHaveNoOtherKeys(t *testing.T) {
	for name, c := range closed {
		if got := strings.Join(keysOf(reflect.TypeOf(c.shape)), " "); got != c.keys {
			t.Errorf("%s has the keys %q, want %q", name, got, c.keys)
		}
	}
}

// keysOf returns the keys of a shape in JSON, in order.
func keysOf(shape reflect.Type) (keys []string) {
	for n := range shape.NumField() {
		f := shape.Field(n)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			keys = append(keys, keysOf(f.Type)...)
		case key != "" && key != "-":
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
