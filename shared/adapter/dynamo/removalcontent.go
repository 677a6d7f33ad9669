package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/sweep"
)

// EndArtifacts implements sweep.ContentRemovals. It first moves what claims bring, so that the index names all
// artifacts.
func (s Removals) EndArtifacts(ctx context.Context, r sweep.Removal, now time.Time) (sweep.Left, error) {
	moving, err := s.beginning(ctx, aliasKey(r.Workspace, ""))
	if err != nil || len(moving) > 0 {
		return sweep.Later, err
	}
	live, err := s.listed(ctx, artifactsOf(r.Workspace), removalStep)
	if err != nil || len(live) == 0 {
		return sweep.Nothing, err
	}
	left := sweep.Later // the index is behind, unless the loop below ends an artifact
	for _, k := range live {
		ended, err := s.endArtifact(ctx, partitionID[id.Artifact](k), r.Workspace, now)
		if err != nil {
			return sweep.Nothing, err
		}
		if ended {
			left = sweep.More
		}
	}
	return left, nil
}

// endArtifact ends a live artifact as deleting it does, but records no event.
func (s Removals) endArtifact(ctx context.Context, a id.Artifact, w id.Workspace, now time.Time) (bool, error) {
	u := updateLive(a)
	u.set("status", string(artifact.Deleted))
	u.set("deleted", now)
	u.set("updated", now)
	u.set("g1p", deletedOf(w))
	u.set("g2p", queueOf(purgeDue, string(a)))
	u.set("g2s", millisKey(now))
	u.remove("draft", "draft_at", "share", "share_exp", "pin_at")
	u.requireValue("own", string(w))
	_, ended, err := s.change(ctx, artifactKey(a), u.expression(), u.condition(), u.values)
	return ended, err
}

// RemoveArtifacts implements sweep.ContentRemovals.
func (s Removals) RemoveArtifacts(ctx context.Context, r sweep.Removal) (sweep.Left, error) {
	ended, err := s.listed(ctx, deletedOf(r.Workspace), removalStep)
	if err != nil || len(ended) == 0 {
		return sweep.Nothing, err
	}
	left := sweep.Later
	for _, k := range ended {
		removed, err := s.removeArtifact(ctx, r, partitionID[id.Artifact](k))
		if err != nil {
			return sweep.Nothing, err
		}
		if removed {
			left = sweep.More
		}
	}
	return left, nil
}

// remains holds what is left of an ended artifact that the purger has finished.
type remains struct {
	artifact *artifact.Artifact
	sessions []id.Session
	keys     []key // without the metadata
}

// errUnpurged means that the purger has not finished with an artifact.
var errUnpurged = errors.New("the artifact is not purged")

// remains reads no list of files: a revision has one until it is retained and out of the purger's queue. It fails with
// errUnpurged at the first item that has to wait.
func (s Removals) remains(ctx context.Context, a id.Artifact) (all remains, err error) {
	sessions := map[id.Session]bool{}
	left := listing{prefix: key{pk: artifactKey(a).pk}, only: keysOnly + ", #status, #own, #home, #g2p, #upl"}
	err = s.each(ctx, left, func(i item) error {
		own := i.key() == artifactKey(a)
		switch {
		case strings.HasPrefix(i.getStr("g2p"), queuePrefix(purgeDue)),
			!own && i.getStr("status") != string(artifact.Retained): // or a list of files, which has no status
			return errUnpurged
		case own:
			all.artifact = readArtifact(i, a)
			return nil
		}
		all.keys = append(all.keys, i.key())
		if u := id.Session(i.getStr("upl")); u != "" {
			sessions[u] = true
		}
		return nil
	})
	all.sessions = slices.Collect(maps.Keys(sessions))
	return all, err
}

// removeArtifact deletes an ended artifact. The metadata goes last, so that a removal that died is repeated in full. It
// leaves an artifact that still waits for the purger or the garbage collector.
func (s Removals) removeArtifact(ctx context.Context, r sweep.Removal, a id.Artifact) (removed bool, err error) {
	all, err := s.remains(ctx, a)
	if errors.Is(err, errUnpurged) {
		return false, nil
	}
	if err != nil || all.artifact == nil || all.artifact.Owner != r.Workspace || all.artifact.Status == artifact.Live {
		return false, err
	}
	collected, err := s.collected(ctx, all.sessions)
	if err != nil || !collected {
		return false, err
	}
	if err := s.addHome(ctx, r, all.artifact.StorageWorkspace); err != nil {
		return false, err
	}
	for _, pk := range []string{lockdownKey(lockdown.Artifact, string(a)).pk, reportsOf(a)} {
		if _, err := s.removePartition(ctx, pk); err != nil {
			return false, err
		}
	}
	if err := s.deleteAll(ctx, uploadKeys(all.sessions)); err != nil { // found through the revisions, which go next
		return false, err
	}
	if err := s.deleteAll(ctx, all.keys); err != nil {
		return false, err
	}
	return true, s.deleteAll(ctx, []key{artifactKey(a)})
}

// uploadKeys returns the keys of the items of upload sessions.
func uploadKeys(sessions []id.Session) (keys []key) {
	for _, u := range sessions {
		keys = append(keys, uploadKey(u), entriesKey(u))
	}
	return keys
}

// collected reports whether the garbage collector has finished with everything that sessions uploaded.
func (s Removals) collected(ctx context.Context, sessions []id.Session) (bool, error) {
	keys := make([]key, len(sessions))
	for n, u := range sessions {
		keys[n] = deletionKey(u)
	}
	f, err := s.existing(ctx, keys)
	return err == nil && len(f) == 0, err
}

// addHome records an ID under which objects of the workspace are stored.
func (s Removals) addHome(ctx context.Context, r sweep.Removal, home id.Workspace) error {
	if home == "" || slices.Contains(r.Homes, home) {
		return nil
	}
	_, _, err := s.change(ctx, removalKey(r.Workspace), "ADD #homes :home", "attribute_exists(#pk)",
		values{"home": []string{string(home)}})
	return err
}

// addClaimed adds a source workspace that an event names, if the source itself says that it was claimed into this one.
func (s Removals) addClaimed(ctx context.Context, r sweep.Removal, source id.Workspace) error {
	w, err := s.workspace(ctx, source)
	if err != nil || w == nil || w.ClaimedInto != r.Workspace {
		return err
	}
	return s.addHome(ctx, r, source)
}

// recordedPage is how many events one step of a removal reads.
const recordedPage = 100

// RemoveRecorded implements sweep.ContentRemovals. Sessions that were never finalized and registrations that were never
// completed are in no list. They end by themselves within the time that events are kept. So the events of every home
// name all that are left.
func (s Removals) RemoveRecorded(ctx context.Context, r sweep.Removal) (sweep.Left, error) {
	i, err := s.get(ctx, removalKey(r.Workspace))
	if err != nil || i == nil {
		return sweep.Nothing, err
	}
	r.Homes = append(homesIn(i), r.Workspace)
	home, ok := unread(r.Homes, i.getSet("read"))
	if !ok {
		return sweep.Nothing, nil
	}
	after := ""
	if of, at, _ := strings.Cut(i.getStr("place"), "\n"); of == string(home) {
		after = at
	}
	events, last, err := s.recorded(ctx, home, after)
	if err != nil {
		return sweep.Nothing, err
	}
	if gone, err := s.removeNamed(ctx, r, home, events); err != nil || !gone {
		return sweep.Later, err
	}
	set, v := "SET #place = :place", values{"place": string(home) + "\n" + last}
	if last == "" {
		set, v = "ADD #read :home", values{"home": []string{string(home)}}
	}
	_, _, err = s.change(ctx, removalKey(r.Workspace), set, "attribute_exists(#pk)", v)
	return sweep.More, err
}

// unread returns the first home whose events have not been read to the end.
func unread(homes []id.Workspace, read []string) (id.Workspace, bool) {
	for _, home := range homes {
		if !slices.Contains(read, string(home)) {
			return home, true
		}
	}
	return "", false
}

// recorded reads a page of the events of a workspace. last is the sort key of the last one; empty: there are no more.
func (s Removals) recorded(
	ctx context.Context, w id.Workspace, after string,
) (events []event.Event, last string, err error) {
	condition, v := "#pk = :pk", values{"pk": workspaceKey(w).pk}
	if after != "" {
		condition, v["after"] = "#pk = :pk AND #sk > :after", after
	}
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.tables.Events,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: v.attributes(),
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(recordedPage),
	})
	if err != nil {
		return nil, "", unavailable(err)
	}
	for _, i := range out.Items {
		events = append(events, readEvent(i, w))
	}
	if len(out.LastEvaluatedKey) > 0 {
		last = item(out.LastEvaluatedKey).getStr("sk")
	}
	return events, last, nil
}

// removeNamed deletes what the events of a home name: upload sessions, registrations of agents with their claim tokens,
// and delegations. gone is false if the garbage collector has not finished with one of the sessions.
func (s Removals) removeNamed(
	ctx context.Context, r sweep.Removal, home id.Workspace, events []event.Event,
) (gone bool, err error) {
	var sessions []id.Session
	for _, e := range events {
		switch {
		case e.Target.Type == event.OnSession && !slices.Contains(sessions, id.Session(e.Target.ID)):
			sessions = append(sessions, id.Session(e.Target.ID))
		case e.Action == event.WorkspaceClaimed && home == r.Workspace:
			err = s.addClaimed(ctx, r, id.Workspace(e.Target.ID))
		case e.Target.Type == event.OnRegistration:
			err = s.removeRegistration(ctx, r, id.Registration(e.Target.ID))
		case e.Target.Type == event.OnDelegation:
			_, err = s.deleteIf(ctx, s.tables.Core, delegationKey(id.Delegation(e.Target.ID)), "#ws = :ws",
				values{"ws": string(r.Workspace)})
		}
		if err != nil {
			return false, err
		}
	}
	if gone, err = s.collected(ctx, sessions); err != nil || !gone {
		return false, err
	}
	return true, s.deleteAll(ctx, uploadKeys(sessions))
}

// removeRegistration deletes a registration of an agent, with its claim token first. It leaves a registration that
// belongs to another workspace by now.
func (s Removals) removeRegistration(ctx context.Context, r sweep.Removal, of id.Registration) error {
	i, err := s.get(ctx, registrationKey(of))
	if err != nil || !slices.Contains(r.Homes, id.Workspace(i.getStr("ws"))) {
		return err
	}
	if err := s.deleteAll(ctx, claimTokenOf(i)); err != nil {
		return err
	}
	return s.deleteAll(ctx, []key{registrationKey(of)})
}
