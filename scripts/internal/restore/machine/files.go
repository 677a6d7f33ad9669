package machine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/scripts/local/folder"
	"vitrine/shared/platform/keyring"
)

// ringsName is the file of the key rings in a data folder.
const ringsName = "rings.json"

// copyDatabase copies the tables of the copy into the new folder.
func (w *work) copyDatabase(context.Context) error {
	w.say("tables   %s", size(w.From.DatabaseFile.Size))
	return w.copyTables(w.Data)
}

// copyTables copies the tables of the copy into a folder, which must have no engine yet.
func (r Restore) copyTables(to string) error {
	from, err := os.Open(r.From.Database())
	if err != nil {
		return fmt.Errorf("the tables of the copy cannot be read: %w: use another copy", err)
	}
	defer from.Close()
	sum := sha256.New()
	if err := folder.Replace(filepath.Join(to, databaseName), io.TeeReader(from, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.From.DatabaseFile.SHA256 {
		return fmt.Errorf("the tables in %s are damaged: they have the SHA-256 %s, the copy was made with %s: use another "+
			"copy", r.From.Dir, got, r.From.DatabaseFile.SHA256)
	}
	return nil
}

// copyFiles brings the key rings and the files beside them. Those of the living folder win, because they were rotated
// since, and end what a rotation was to end. Rings that share no key with those of the copy were made anew, after the
// old ones were lost: they would make everything invalid that the tables hold.
func (w *work) copyFiles(context.Context) error {
	living := w.related()
	if !living && w.there(ringsName) {
		w.say("rings    of the copy, because those in %s share no key with them", w.Living)
	}
	for _, f := range w.From.Rings {
		content, err := os.ReadFile(filepath.Join(w.Living, f.Name))
		if !living || err != nil || len(content) == 0 || strings.HasSuffix(f.Name, ".json") && !json.Valid(content) {
			if content, err = w.ringOfCopy(f.Name, f.SHA256); err != nil {
				return err
			}
		}
		if err := folder.Replace(filepath.Join(w.Data, f.Name), bytes.NewReader(content)); err != nil {
			return err
		}
	}
	return nil
}

// there reports whether the living folder has a file.
func (r Restore) there(name string) bool {
	_, err := os.Stat(filepath.Join(r.Living, name))
	return err == nil
}

func (r Restore) ringOfCopy(name, sha string) ([]byte, error) {
	content, err := os.ReadFile(r.From.RingFile(name))
	if err != nil {
		return nil, fmt.Errorf("the copy cannot be read: %w: use another copy", err)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("%s of the copy %s is damaged: use another copy", name, r.From.Dir)
	}
	return content, nil
}

// related reports whether the key rings of the living folder are later ones of those in the copy: one key that hashes
// credentials is in both.
func (r Restore) related() bool {
	var rings [2]keyring.Set
	for n, file := range []string{filepath.Join(r.Living, ringsName), r.From.RingFile(ringsName)} {
		content, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		if rings[n], _, err = keyring.Complete(content); err != nil {
			return false
		}
	}
	return slices.ContainsFunc(rings[0].Pepper.Keys, func(k keyring.Key) bool {
		return slices.ContainsFunc(rings[1].Pepper.Keys, func(other keyring.Key) bool {
			return bytes.Equal(k.Secret, other.Secret)
		})
	})
}
