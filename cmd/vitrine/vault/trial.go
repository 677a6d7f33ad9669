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
	return v.withLock(ctx, func() error { return v.put(trialPrefix+name, t) })
}

// put stores an entry other than a login in the keyring, or in the file if there is no keyring.
func (v *Vault) put(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if v.toRing(name, text) {
		return v.write(name, nil)
	}
	return v.write(name, text)
}

// get reads an entry other than a login. It reports false for one that cannot be read.
func (v *Vault) get(name string, value any) bool {
	entries, _ := v.entries() // an unreadable file counts as empty
	text := []byte(entries[name])
	if len(text) == 0 {
		text, _ = v.fromRing(name)
	}
	return json.Unmarshal(text, value) == nil
}

// LoadTrial returns the trial of a publish, or nil if there is none that can be used.
func (v *Vault) LoadTrial(name string) *Trial {
	var t Trial
	if !v.get(trialPrefix+name, &t) || t.APIURL == "" || t.UploadURL == "" {
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
