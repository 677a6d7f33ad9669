package vault

import (
	"context"
	"encoding/json"

	"vitrine/shared/platform/contract"
)

// Trial is the workspace of a publish without an account that is not finished. Its secrets are sent only to the hosts
// that it names.
type Trial struct {
	APIURL    string               `json:"api_url"`
	UploadURL string               `json:"upload_url"`
	Workspace contract.Provisioned `json:"workspace"`
}

// trialPrefix keeps the names of trials apart from those of logins, which are addresses.
const trialPrefix = "publish "

// SaveTrial stores a trial under the name of its publish, until RemoveTrial.
func (v *Vault) SaveTrial(ctx context.Context, name string, t Trial) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return v.withLock(ctx, func() error {
		if v.toRing(trialPrefix+name, text) {
			return v.write(trialPrefix+name, nil)
		}
		return v.write(trialPrefix+name, text)
	})
}

// LoadTrial returns the trial of a publish, or nil if there is none that can be used.
func (v *Vault) LoadTrial(name string) *Trial {
	entries, _ := v.entries() // an unreadable file counts as empty
	text := []byte(entries[trialPrefix+name])
	if len(text) == 0 {
		text, _ = v.fromRing(trialPrefix + name)
	}
	var t Trial
	if json.Unmarshal(text, &t) != nil || t.APIURL == "" || t.UploadURL == "" {
		return nil
	}
	return &t
}

// RemoveTrial deletes the trial of a publish from both places.
func (v *Vault) RemoveTrial(ctx context.Context, name string) error {
	return v.withLock(ctx, func() error { return v.remove(trialPrefix + name) })
}

func (v *Vault) withLock(ctx context.Context, change func() error) error {
	unlock, err := v.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return change()
}
