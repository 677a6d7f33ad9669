package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// exportState is the export that the fake server has. All its archives are the zip of its bundle.
type exportState struct {
	status  string // empty: none
	serial  int    // how often one was asked for
	pending int    // looks before the status
	volumes int
	stale   bool // the person signed in too long ago
	readyAt time.Time
	name    string // of the archives; empty: the usual one
}

func (server *fakeServer) askExport(w http.ResponseWriter, _ *http.Request) {
	e := &server.exports
	if e.stale {
		plannedFault{status: 403, code: "forbidden"}.answer("", w)
		return
	}
	e.serial++
	e.readyAt = epoch
	answer(w, 202, contract.ExportStatus{Export: server.export()})
}

func (server *fakeServer) showExport(w http.ResponseWriter, _ *http.Request) {
	if server.exports.serial == 0 {
		answer(w, 200, contract.ExportStatus{})
		return
	}
	answer(w, 200, contract.ExportStatus{Export: server.export()})
}

// export is how the export looks now; each look brings it forward.
func (server *fakeServer) export() *contract.Export {
	e := &server.exports
	out := &contract.Export{
		ID:             id.Export(fmt.Sprintf("exp_%026d", e.serial)),
		Status:         e.status,
		CreatedAt:      contract.At(epoch.Add(-time.Minute)),
		ArtifactsTotal: 250,
		ArtifactsDone:  250,
		Volumes:        []contract.ExportVolume{},
	}
	if e.pending > 0 {
		e.pending--
		out.Status, out.RetryAfterSeconds = "pending", 5
		if out.ArtifactsDone = 120 - 60*e.pending; out.ArtifactsDone < 0 { // it has not begun
			out.ArtifactsDone, out.ArtifactsTotal = 0, 0
		}
		return out
	}
	reasons := map[string]string{"expired": "an artifact was deleted", "failed": "some files could not be read"}
	if reason, ok := reasons[e.status]; ok {
		out.FailureReason = &reason
	}
	if e.status != "ready" {
		return out
	}
	at := contract.At(e.readyAt)
	out.ReadyAt = &at
	for n := range e.volumes {
		v := contract.ExportVolume{
			Number:    n + 1,
			FileName:  fmt.Sprintf("vitrine-export-2026-11-21-%d-of-%d.zip", n+1, e.volumes),
			SizeBytes: int64(len(server.bundle.body)),
			SHA256:    sum(server.bundle.body),
		}
		if e.volumes == 1 {
			v.FileName = "vitrine-export-2026-11-21.zip"
		}
		if e.name != "" {
			v.FileName = e.name
		}
		if url := fmt.Sprintf("%s/x/s3cret-%d", server.content.URL, n); !e.stale {
			v.URL = &url
		}
		out.Volumes = append(out.Volumes, v)
	}
	return out
}

// tellExport handles the command of tellPeer about exports: a status with the looks before it and the number of
// archives, or what is particular about it.
func (server *fakeServer) tellExport(ts *testscript.TestScript, args []string) {
	e := &server.exports
	switch args[1] {
	case "stale":
		e.stale = true
	case "fresh":
		e.stale = false
	case "old":
		e.readyAt = epoch.Add(-2 * time.Hour)
	case "named":
		e.name = args[2]
	default:
		e.status, e.pending, e.volumes = args[1], number(ts, args[2]), number(ts, args[3])
	}
}
