package replay

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/rows"
)

// kinds names for people what a step ends, by the beginning of its partition.
var kinds = map[string]string{
	"SES":  "browser sessions",
	"LTX":  "sign-ins under way",
	"OAR":  "open consent pages",
	"UC":   "device codes",
	"CRED": "grants and codes of apps",
	"CT":   "claim tokens of claimed workspaces, marked as redeemed",
	"W":    "credentials, of workspaces",
	"A":    "links and public views, of artifacts",
	"i":    "records of commands",
}

// EndCredentials deletes browser sessions, sign-ins under way, consents, codes and OAuth grants, so that people sign in
// again: of those that ended after the instant some left no event. API keys stay, and with them the grants that made
// them, without any token: who ends such a grant, or ended it in an event that is done again later, ends its keys. A
// claim token stays too, because each source has one; that of a claimed source is marked as redeemed.
func EndCredentials(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	r := storeOf(set)
	c := credentials{counts: map[string]int{}, claimed: map[string]int64{}}
	for i, err := range r.Scan(ctx, r.Tables.Core) {
		if err != nil {
			return Report{}, err
		}
		c.sort(i)
	}
	if err := r.removeAll(ctx, r.Tables.Core, c.ended); err != nil {
		return Report{}, err
	}
	for _, key := range c.makers {
		if _, err := r.Change(ctx, strip(key)); err != nil {
			return Report{}, err
		}
	}
	for _, t := range c.tokens {
		at, ok := c.claimed[t.Text("ws")]
		if !ok {
			continue
		}
		c.counts["CT"]++
		_, err := r.Change(ctx, rows.Update{
			Key:    rows.Key(t.Text("pk"), t.Text("sk")),
			Set:    "SET #redeemed = :at",
			Only:   "attribute_exists(pk) AND attribute_not_exists(#redeemed)",
			Values: rows.Item{":at": rows.Number(cmp.Or(at, now.UnixMilli()))},
			Names:  map[string]string{"#redeemed": "redeemed"},
		})
		if err != nil {
			return Report{}, err
		}
	}
	return counted("ended", c.counts), nil
}

// credentials are what a scan finds of those that end.
type credentials struct {
	counts  map[string]int   // of ended, by kind
	ended   []rows.Item      // keys
	makers  []rows.Item      // keys of grants that made API keys
	tokens  []rows.Item      // claim tokens that are not redeemed
	claimed map[string]int64 // when sources were claimed
}

func (c *credentials) sort(i rows.Item) {
	kind, _, _ := strings.Cut(i.Text("pk"), "#")
	switch kind {
	case "SES", "LTX", "OAR", "UC", "CRED":
		c.counts[kind]++
		key := rows.Key(i.Text("pk"), i.Text("sk"))
		if i["api_keys"] != nil {
			c.makers = append(c.makers, key)
		} else {
			c.ended = append(c.ended, key)
		}
	case "CT":
		if i.Number("redeemed") == 0 {
			c.tokens = append(c.tokens, i)
		}
	case "W":
		if i.Text("into") != "" && i.Text("sk") == "META" {
			c.claimed[nameIn[string](i)] = i.Number("claimed_at")
		}
	}
}

// strip takes all tokens from a grant, with what recognises those of before.
func strip(grant rows.Item) rows.Update {
	u := rows.Update{Key: grant, Only: "attribute_exists(pk)", Names: map[string]string{}}
	var all []string
	for _, name := range []string{"tokens", "rt_mac", "rt_pepper", "old_mac", "old_pepper", "chain", "turns"} {
		all = append(all, "#"+name)
		u.Names["#"+name] = name
	}
	u.Set = "REMOVE " + strings.Join(all, ", ")
	return u
}

// counted reports how many of each kind there are.
func counted(done string, counts map[string]int) (r Report) {
	for _, kind := range sorted(counts) {
		r.say("%s %s: %d", done, kinds[kind], counts[kind])
	}
	return r
}

// batchRemove is the most items that one request deletes.
const batchRemove = 25

// removeAll deletes items by their keys.
func (s store) removeAll(ctx context.Context, table string, keys []rows.Item) error {
	for part := range slices.Chunk(keys, batchRemove) {
		var writes []types.WriteRequest
		for _, k := range part {
			writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k}})
		}
		for len(writes) > 0 {
			out, err := s.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: writes},
			})
			if err != nil {
				return err
			}
			writes = out.UnprocessedItems[table]
		}
	}
	return nil
}
