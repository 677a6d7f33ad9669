package vault

import (
	"testing"

	"github.com/zalando/go-keyring"

	"vitrine/shared/platform/contract"
)

func TestATrialIsKeptUntilItIsRemoved(t *testing.T) {
	want := Trial{
		APIURL:    "https://api.test",
		UploadURL: "https://upload.test",
		Workspace: contract.Provisioned{APIKeySecret: "key", ClaimToken: "token"},
	}
	for place, prepare := range map[string]func(){"keyring": keyring.MockInit, "file": func() { without(t) }} {
		t.Run(place, func(t *testing.T) {
			prepare()
			v := open(t, nil)
			store(t, v, login(server, "a"))
			if got := v.LoadTrial("one"); got != nil {
				t.Errorf("before: %+v", got)
			}
			if err := v.SaveTrial(t.Context(), "one", want); err != nil {
				t.Fatal(err)
			}
			if listed := v.Servers(); (len(listed) == 1 && listed[0] == server) != (place == "file") {
				t.Errorf("servers with a login in the file: %v", listed)
			}
			if got := v.LoadTrial("one"); got == nil || *got != want {
				t.Errorf("trial %+v, want %+v", got, want)
			}
			if got := v.LoadTrial("two"); got != nil {
				t.Errorf("another one: %+v", got)
			}
			for range 2 {
				if err := v.RemoveTrial(t.Context(), "one"); err != nil || v.LoadTrial("one") != nil {
					t.Errorf("it is still there: %v", err)
				}
			}
			wantLogin(t, v, login(server, "a"))
		})
	}
}
