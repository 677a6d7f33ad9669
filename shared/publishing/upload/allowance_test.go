package upload

import (
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// creates creates a session at 18:00 UTC.
func creates(f *fakeStore, l limits.Limits, files ...contract.DeclaredFile) error {
	c := &Service{
		Store:   f,
		Index:   f,
		Objects: f,
		Limits:  &l,
		Now:     func() time.Time { return time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC) },
	}
	by := credential.Actor{Workspace: workspace.Workspace{ID: id.NewWorkspace()}, Policy: l.Tiers[limits.Ephemeral]}
	r := contract.CreateSession{Title: "T", Entrypoint: files[0].Path, Files: files}
	_, err := c.Create(context.Background(), by, idempotency.Command{}, nil, r, func() error { return nil }, nil)
	return err
}

func TestOnlyBytesThatMayBePutCount(t *testing.T) {
	known := tree.DigestOf("known")
	shared := strings.Repeat("a", 64)
	f := &fakeStore{indexed: map[tree.Content]tree.Object{{SHA256: known, Size: 5}: {Session: id.NewSession()}}}
	err := creates(f, limits.Default(),
		contract.DeclaredFile{Path: "index.html", SizeBytes: 1000},
		contract.DeclaredFile{Path: "known", SizeBytes: 5, SHA256: known.String()},
		contract.DeclaredFile{Path: "one", SizeBytes: 200, SHA256: shared},
		contract.DeclaredFile{Path: "the same", SizeBytes: 200, SHA256: shared},
		contract.DeclaredFile{Path: "empty"},
	)
	if err != nil || f.made.Bytes != 1200 || f.made.BytesADay != 4*20*25*limits.MiB {
		t.Errorf("%d bytes of %d a day, %v", f.made.Bytes, f.made.BytesADay, err)
	}
}

func TestBytesAreNotCountedWhenLimitsAreOff(t *testing.T) {
	f, off := new(fakeStore), limits.Default()
	off.Off = true
	err := creates(f, off, contract.DeclaredFile{Path: "index.html", SizeBytes: 1000})
	if err != nil || f.made.Bytes != 0 {
		t.Errorf("%d bytes, %v", f.made.Bytes, err)
	}
}

func TestADayWithoutBytesLeftSaysWhenTheNextOneStarts(t *testing.T) {
	f := &fakeStore{refuses: fault.NewCode(fault.WriteAllowanceExceeded)}
	refused := fault.Of(creates(f, limits.Default(), contract.DeclaredFile{Path: "index.html", SizeBytes: 1000}))
	if refused.Code != fault.WriteAllowanceExceeded || refused.RetryAfter != 6*time.Hour {
		t.Errorf("%+v, want a wait for six hours", refused)
	}
	if !strings.Contains(refused.Message, "2097152000 bytes") {
		t.Errorf("%+v, want the day's bytes", refused)
	}
}
