// Package seen remembers which threads were shown, so that a publish addresses those that its caller has read. It holds
// ids, no words.
package seen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"vitrine/cmd/vitrine/save"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

const dirMode = 0o700

// Thread is a thread as it was shown last.
type Thread struct {
	ID   id.Thread `json:"thread_id"`
	Seq  int64     `json:"seq"`
	Open bool      `json:"open"`
}

// Memory is a folder with a file for each artifact.
type Memory struct{ Dir string } // Dir is "" if there is none

// Load returns the threads of an artifact that were shown, in their order.
func (m Memory) Load(server string, a id.Artifact) (all []Thread) {
	text, err := os.ReadFile(m.path(server, a))
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// Add remembers threads that are shown now.
func (m Memory) Add(server string, a id.Artifact, now []contract.ThreadSummary) error {
	if len(now) == 0 {
		return nil
	}
	all := m.Load(server, a)
	for _, t := range now {
		all = slices.DeleteFunc(all, func(old Thread) bool { return old.ID == t.ID })
		if t.State != "deleted" {
			all = append(all, Thread{t.ID, t.Seq, t.State == "open"})
		}
	}
	return m.save(server, a, all)
}

// Remove forgets threads, which have changed since.
func (m Memory) Remove(server string, a id.Artifact, changed []id.Thread) error {
	all := slices.DeleteFunc(m.Load(server, a), func(t Thread) bool { return slices.Contains(changed, t.ID) })
	return m.save(server, a, all)
}

func (m Memory) save(server string, a id.Artifact, all []Thread) error {
	if m.Dir == "" {
		return nil
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.MkdirAll(m.Dir, dirMode)
	}
	if err != nil {
		return err
	}
	return save.Private(m.path(server, a), append(text, '\n'))
}

func (m Memory) path(server string, a id.Artifact) string {
	sum := sha256.Sum256([]byte(server + "\x00" + string(a)))
	return filepath.Join(m.Dir, hex.EncodeToString(sum[:16])+".json")
}
