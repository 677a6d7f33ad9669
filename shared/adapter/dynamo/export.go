package dynamo

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// Exports stores the newest export of each workspace, and reads what goes into exports.
type Exports struct {
	*db
	cleanup
	metadata
	files
	artifacts Artifacts
	keys      Keys
	links     Links
	events    Events
}

var (
	_ export.Store       = Exports{}
	_ sweep.ExportStore  = Exports{}
	_ sweep.StaleExports = Exports{}
)

func exportFields(f fields, e *export.Export) {
	text(f, "id", &e.ID)
	text(f, "status", &e.Status)
	text(f, "mem", &e.Member)
	f.time("created", &e.CreatedAt)
	f.time("started", &e.StartedAt)
	f.time("ended", &e.EndedAt)
	f.time("exp", &e.ExpiresAt)
	text(f, "reason", &e.Reason)
	integer(f, "total", &e.Artifacts)
	integer(f, "skipped", &e.Skipped)
	integer(f, "next", &e.Next.Artifact)
	integer(f, "next_rev", &e.Next.Revision)
	text(f, "next_evt", &e.Next.Events)
	f.volumes("vols", &e.Volumes)
	integer(f, "most", &e.Most)
	f.changes("next_chg", e)
	integer(f, "btries", &e.Attempts)
}

// volumeLen is the packed length of one archive: its size and its digest.
const volumeLen = 8 + len(tree.Digest{})

// volumes copies a list of archives, packed into one attribute.
func (f fields) volumes(name string, v *[]export.Volume) {
	switch {
	case f.named(name):
	case f.write:
		f.item.bin(name, packVolumes(*v))
	default:
		*v = unpackVolumes(f.item.getBin(name))
	}
}

func packVolumes(all []export.Volume) []byte {
	out := make([]byte, 0, len(all)*volumeLen)
	for _, v := range all {
		out = binary.BigEndian.AppendUint64(out, uint64(v.Size))
		out = append(out, v.SHA256[:]...)
	}
	return out
}

func unpackVolumes(b []byte) (out []export.Volume) {
	for ; len(b) >= volumeLen; b = b[volumeLen:] {
		out = append(out, export.Volume{
			Size:   int64(binary.BigEndian.Uint64(b)),
			SHA256: tree.Digest(b[8:volumeLen]),
		})
	}
	return out
}

// changes copies the progress within a revision. It is stored with what it belongs to, and ignored beside anything
// else, because older code moves the position or begins an export anew without it.
func (f fields) changes(name string, e *export.Export) {
	switch {
	case f.named(name):
	case f.write:
		f.item.str(name, packChanges(*e))
	default:
		stored := f.item.getStr(name)
		_, n, _ := strings.Cut(stored, " ")
		e.Next.Changes, _ = strconv.Atoi(n)
		if packChanges(*e) != stored {
			e.Next.Changes = 0
		}
	}
}

// packChanges returns the list of artifacts and the number of archives that the progress belongs to, and the progress.
// It is empty between revisions.
func packChanges(e export.Export) string {
	if e.Next.Changes == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%d %d", millisKey(e.StartedAt), len(e.Volumes), e.Next.Changes)
}

func readExport(i item, w id.Workspace) *export.Export {
	return decode(i, &export.Export{Workspace: w}, exportFields)
}

// Export implements export.Store.
func (s Exports) Export(ctx context.Context, w id.Workspace) (*export.Export, error) {
	i, err := s.get(ctx, exportKey(w))
	return readExport(i, w), err
}

// Create implements export.Store. It moves a replaced export to a key of its own until its archives are deleted, so
// that every archive has an item that names it.
func (s Exports) Create(ctx context.Context, c export.Creation) error {
	e := c.Export
	t := s.begin()
	t.finish(c.Command, c.Result, c.At)
	condition, v := "attribute_not_exists(#pk)", values(nil)
	if c.Replaces != nil {
		condition = "#id = :was AND #status = :ended"
		v = values{"was": string(c.Replaces.ID), "ended": string(c.Replaces.Status)}
	}
	t.put(encode(exportKey(e.Workspace), &e, exportFields).
		str("g2p", queueOf(exportDue, string(e.ID))).str("g2s", millisKey(c.At)), condition, v, exportMoved)
	if was := c.Replaces; was != nil && was.Status != export.Expired {
		t.create(encode(replacedExportKey(e.Workspace, was.ID), was, exportFields).
			str("g2p", queueOf(staleExportDue, string(was.ID))).str("g2s", millisKey(was.CleanupAt(c.At))))
	}
	t.checkFence(e.Workspace)
	t.record(c.Event)
	return s.commit(ctx, t)
}

// RecordNoop implements export.Store.
func (s Exports) RecordNoop(ctx context.Context, c export.Creation) error {
	t := s.begin()
	t.finish(c.Command, c.Result, c.At)
	t.check(exportKey(c.Export.Workspace), "#id = :id AND #status = :pending",
		values{"id": string(c.Export.ID), "pending": string(export.Pending)}, exportMoved)
	t.checkFence(c.Export.Workspace)
	return s.commit(ctx, t)
}

func exportMoved(item) error { return export.ErrMoved }

// DueExports implements sweep.ExportStore.
func (s Exports) DueExports(ctx context.Context, now time.Time, n int) (out []sweep.Export, err error) {
	found, err := s.dueItems(ctx, exportDue, now, n)
	for _, d := range found {
		if d.getTime("buntil").After(now) {
			continue
		}
		out = append(out, sweep.Export{Export: *readExport(d.item, partitionID[id.Workspace](d.key)), QueueItem: d.queueItem()})
	}
	return out, err
}

// Take implements sweep.ExportStore. If the answer of an attempt was lost, the export can be taken again when the time
// of that attempt is over.
func (s Exports) Take(ctx context.Context, e sweep.Export, until time.Time) (sweep.Export, bool, error) {
	condition, v := exportAttempts(e)
	e.Attempts++
	v["more"] = e.Attempts
	v["until"] = until
	_, ok, err := s.change(ctx, exportKey(e.Workspace), "SET #btries = :more, #buntil = :until", condition, v)
	return e, ok, err
}

// Release implements sweep.ExportStore.
func (s Exports) Release(ctx context.Context, e sweep.Export) error {
	condition, v := exportAttempts(e)
	_, _, err := s.change(ctx, exportKey(e.Workspace), "REMOVE #buntil", condition, v)
	return err
}

// exportAttempts returns the condition that an export is pending and had as many attempts as e.
func exportAttempts(e sweep.Export) (condition string, v values) {
	v = values{"id": string(e.ID), "is": string(export.Pending)}
	if e.Attempts == 0 {
		return "#id = :id AND #status = :is AND attribute_not_exists(#btries)", v
	}
	v["had"] = e.Attempts
	return "#id = :id AND #status = :is AND #btries = :had", v
}

// Save implements sweep.ExportStore.
func (s Exports) Save(ctx context.Context, e sweep.Export, p export.Export) (bool, error) {
	condition, v := exportAttempts(e)
	if !e.StartedAt.IsZero() {
		condition += " AND #started = :listed"
		v["listed"] = e.StartedAt
	}
	v["status"] = string(p.Status)
	v["total"] = p.Artifacts
	v["skipped"] = p.Skipped
	v["next"] = p.Next.Artifact
	v["next_rev"] = p.Next.Revision
	v["next_evt"] = p.Next.Events
	v["next_chg"] = packChanges(p)
	v["vols"] = packVolumes(p.Volumes)
	v["most"] = p.Most
	set := "SET #status = :status, #total = :total, #skipped = :skipped, #next = :next, #next_rev = :next_rev, " +
		"#next_evt = :next_evt, #next_chg = :next_chg, #vols = :vols, #most = :most"
	if !p.StartedAt.IsZero() {
		set += ", #started = :started"
		v["started"] = p.StartedAt
	}
	switch p.Status {
	case export.Ready:
		set += ", #ended = :ended, #exp = :exp, #g2p = :queue, #g2s = :cleanup"
		v["ended"] = p.EndedAt
		v["exp"] = p.ExpiresAt
		v["queue"] = queueOf(staleExportDue, string(p.ID))
		v["cleanup"] = millisKey(p.ExpiresAt)
	case export.Failed:
		set += ", #ended = :ended, #reason = :reason, #g2p = :queue, #g2s = :cleanup"
		v["ended"] = p.EndedAt
		v["reason"] = p.Reason
		v["queue"] = queueOf(staleExportDue, string(p.ID))
		v["cleanup"] = millisKey(p.CleanupAt(p.EndedAt))
	}
	_, ok, err := s.change(ctx, exportKey(e.Workspace), set+" REMOVE #btries, #buntil, #tried, #tries", condition, v)
	return ok, err
}

// withdraw adds to the lock or deletion of an artifact what it does to the export of its workspace: finished archives
// end, and an export that is being made starts again. The transaction is refused with changed if the export changed
// meanwhile.
func (s *db) withdraw(
	ctx context.Context, t *transaction, w id.Workspace, created, at time.Time, changed refusal,
) error {
	k := exportKey(w)
	i, err := s.get(ctx, k)
	e := readExport(i, w)
	if err != nil || e == nil || !e.MayHold(created, at) {
		return err
	}
	condition, v := "#id = :id AND #status = :is", values{"id": string(e.ID), "is": string(e.Status)}
	switch {
	case e.Status == export.Ready:
		v["at"] = at
		v["due"] = millisKey(at)
		v["why"] = export.Withdrawn
		t.update(k, "SET #exp = :at, #g2s = :due, #reason = :why", condition, v, changed)
	case e.StartedAt.IsZero():
		t.check(k, condition+" AND attribute_not_exists(#started)", v, changed)
	default:
		v["listed"] = e.StartedAt
		t.update(k, "REMOVE #started, #total, #skipped, #next, #next_rev, #next_evt, #next_chg, #vols",
			condition+" AND #started = :listed", v, changed)
	}
	return nil
}

// SaveList implements sweep.ExportStore. A part expires some time after the export.
func (s Exports) SaveList(ctx context.Context, e export.Export, part int, artifacts []id.Artifact) error {
	packed := make([]byte, 0, len(artifacts)*len(id.Bits{}))
	for _, a := range artifacts {
		b, err := a.Bits()
		if err != nil {
			return err
		}
		packed = append(packed, b[:]...)
	}
	_, _, err := s.change(ctx, exportListKey(e.Workspace, e.ID, part), "SET #list = :list, #ttl = :ttl", "",
		values{"list": packed, "ttl": e.CreatedAt.Add(2 * limits.ExportLife).Unix()})
	return err
}

// ReadList implements sweep.ExportStore.
func (s Exports) ReadList(ctx context.Context, e export.Export, part int) (out []id.Artifact, err error) {
	i, err := s.get(ctx, exportListKey(e.Workspace, e.ID, part))
	for packed := range slices.Chunk(i.getBin("list"), len(id.Bits{})) {
		if len(packed) == len(id.Bits{}) {
			out = append(out, id.ArtifactOf(id.Bits(packed)))
		}
	}
	return out, err
}

// Revisions implements sweep.ExportStore.
func (s Exports) Revisions(ctx context.Context, a id.Artifact) ([]artifact.Revision, error) {
	return s.artifacts.Revisions(ctx, a)
}

// listPage is how many artifacts or events are read at once.
const listPage = 1000

// LiveArtifacts implements sweep.ExportStore.
func (s Exports) LiveArtifacts(ctx context.Context, w workspace.Workspace, now time.Time) (out []id.Artifact, err error) {
	q := artifact.Query{
		Workspace: w.ID,
		Claimed:   !w.ClaimedAt.IsZero(),
		Limit:     listPage,
		Now:       now,
	}
	for {
		rows, more, err := s.artifacts.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, a := range rows {
			out = append(out, a.ID)
		}
		if !more {
			return out, nil
		}
		last := rows[len(rows)-1]
		q.After = artifact.Position{CreatedAt: last.CreatedAt, ID: last.ID}
	}
}

// Members implements sweep.ExportStore.
func (s Exports) Members(ctx context.Context, w id.Workspace) (out []member.Member, err error) {
	err = s.below(ctx, memberKey(w, ""), func(i item) error {
		out = append(out, *readMember(i, w, sortID[id.Member](i.key())))
		return nil
	})
	return out, err
}

// APIKeys implements sweep.ExportStore.
func (s Exports) APIKeys(ctx context.Context, w workspace.Workspace, now time.Time) ([]credential.Key, error) {
	rows, _, err := s.keys.List(ctx, credential.KeyQuery{
		Workspace: w,
		Which:     credential.AllKeys,
		Limit:     limits.ExportKeys,
		Now:       now,
	})
	return rows, err
}

// LinksTo implements sweep.ExportStore.
func (s Exports) LinksTo(ctx context.Context, w id.Workspace, a id.Artifact) ([]link.Link, error) {
	rows, _, err := s.links.List(ctx, sharing.Query{Workspace: w, Artifact: a, Limit: limits.LinksListed})
	return rows, err
}

// Story implements sweep.ExportStore.
func (s Exports) Story(
	ctx context.Context, w id.Workspace, now time.Time, after account.Position,
) ([]event.Event, account.Position, bool, error) {
	rows, last, more, err := s.events.List(ctx, account.StoryOf(w), now, after, listPage)
	return slices.DeleteFunc(rows, func(e event.Event) bool { return !account.Told(e) }), last, more, err
}

// DueStaleExports implements sweep.StaleExports.
func (s Exports) DueStaleExports(ctx context.Context, now time.Time, n int) (out []sweep.StaleExport, err error) {
	found, err := s.dueItems(ctx, staleExportDue, now, n)
	for _, d := range found {
		out = append(out, sweep.StaleExport{Export: *readExport(d.item, partitionID[id.Workspace](d.key)), QueueItem: d.queueItem()})
	}
	return out, err
}

// Forget implements sweep.StaleExports.
func (s Exports) Forget(ctx context.Context, e sweep.StaleExport) error {
	k, v := parseRowKey(e.Key), values{"due": millisKey(e.Due), "id": string(e.ID)}
	condition := "#g2s = :due AND #id = :id"
	if k != exportKey(e.Workspace) {
		_, err := s.deleteIf(ctx, s.tables.Core, k, condition, v)
		return err
	}
	set := "REMOVE #g2p, #g2s, #tried, #tries, #vols"
	if e.Status == export.Ready {
		set = "SET #status = :expired " + set
		v["expired"] = string(export.Expired)
	}
	_, _, err := s.change(ctx, k, set, condition, v)
	return err
}
