package harness

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/platform/id"
)

// Multiply stores copies of the only thread of an artifact, each with its messages, so that there are n threads. The
// last ones are open, and all others resolved. It writes items as the hosts wrote those of the thread, but no events,
// because thousands of requests take minutes.
func (e *BackendEnv) Multiply(t testing.TB, a id.Artifact, n, open int) {
	t.Helper()
	var thread, place Item
	var messages, out []Item
	partition := "FB#" + string(a)
	for _, i := range e.Scan(t, e.Tables.Core) {
		switch kind, _, _ := strings.Cut(Text(i["sk"]), "#"); {
		case Text(i["pk"]) != partition:
		case kind == "T":
			thread = i
		case kind == "S":
			place = i
		case kind == "N":
			messages = append(messages, i)
		}
	}
	first := Must(strconv.Atoi(Text(thread["seq"])))(t)
	for k := range n {
		name, state := id.NewThread(), "resolved"
		if k == 0 {
			name = id.Thread(strings.TrimPrefix(Text(thread["sk"]), "T#"))
		}
		if k >= n-open {
			state = "open"
		}
		copied := func(i Item, set map[string]any) {
			i = maps.Clone(i)
			SetAttributes(i, set)
			out = append(out, i)
		}
		copied(thread, map[string]any{"sk": "T#" + string(name), "seq": first + k, "state": state})
		copied(place, map[string]any{"sk": fmt.Sprintf("S#%012d", first+k), "thr": string(name), "state": state})
		for m, i := range messages {
			if k > 0 {
				copied(i, map[string]any{"sk": fmt.Sprintf("N#%s#%03d", name, m+1), "id": string(id.NewMessage())})
			}
		}
	}
	e.putAll(t, out)
	counts := e.GetItem(t, partition, "F")
	e.Update(t, partition, "F", map[string]any{
		"seq":      first + n - 1,
		"open":     open,
		"threads":  n,
		"messages": n * len(messages),
		"text":     n * Must(strconv.Atoi(Text(counts["text"])))(t),
	})
}

// putAll stores items of the core table.
func (e *BackendEnv) putAll(t testing.TB, items []Item) {
	t.Helper()
	const batch, atOnce = 25, 4
	parallel.Do(atOnce, func(worker int) {
		for from := worker * batch; from < len(items); from += atOnce * batch {
			var writes []types.WriteRequest
			for _, i := range items[from:min(from+batch, len(items))] {
				writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
			}
			left, err := e.DB.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{e.Tables.Core: writes},
			})
			if err != nil || len(left.UnprocessedItems) > 0 {
				t.Errorf("%d items are left: %v", len(left.UnprocessedItems), err)
				return
			}
		}
	})
}
