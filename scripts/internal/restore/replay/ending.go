package replay

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/invariant"
)

// sessionKinds names by the beginning of the partition what people and apps hold, for people.
var sessionKinds = map[string]string{
	"SES":   "browser sessions",
	"LTX":   "sign-ins under way",
	"OAR":   "open consent pages",
	"UC":    "device codes",
	"CRED":  "grants and codes of apps",
	"CT":    "claim tokens of claimed workspaces, marked as redeemed",
	"W":     "workspaces whose credentials end",
	"A":     "artifacts whose links and public views end",
	"retry": "records of commands",
}

// EndCredentials deletes browser sessions, sign-ins under way, consents, codes and OAuth grants, so that people sign in
// again: of those that ended after the instant some left no event. API keys stay. A claim token stays too, because each
// source has one; that of a claimed source is marked as redeemed.
func EndCredentials(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	r := rows{set.DynamoDB, set.Tables}
	counts := map[string]int{}
	claimed := map[string]int64{} // when, by source
	var tokens, ended []item
	err := r.scan(ctx, r.tables.Core, func(i item) error {
		kind, _, _ := strings.Cut(textOf(i, "pk"), "#")
		switch kind {
		case "SES", "LTX", "OAR", "UC", "CRED":
			counts[kind]++
			ended = append(ended, keyOf(textOf(i, "pk"), textOf(i, "sk")))
		case "CT":
			if numberOf(i, "redeemed") == 0 {
				tokens = append(tokens, i)
			}
		case "W":
			if textOf(i, "into") != "" && textOf(i, "sk") == "META" {
				claimed[nameIn[string](i)] = numberOf(i, "claimed_at")
			}
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	if err := r.removeAll(ctx, r.tables.Core, ended); err != nil {
		return Report{}, err
	}
	for _, t := range tokens {
		at, ok := claimed[textOf(t, "ws")]
		if !ok {
			continue
		}
		counts["CT"]++
		_, err := r.change(ctx, update{
			key:    keyOf(textOf(t, "pk"), textOf(t, "sk")),
			set:    "SET #redeemed = :at",
			only:   "attribute_exists(pk) AND attribute_not_exists(#redeemed)",
			values: item{":at": number(max(at, 1))},
			names:  map[string]string{"#redeemed": "redeemed"},
		})
		if err != nil {
			return Report{}, err
		}
	}
	return counted("ended", counts), nil
}

// counted reports how many of each kind there are.
func counted(done string, counts map[string]int) (r Report) {
	for _, kind := range sorted(counts) {
		r.say("%s: %d %s", done, counts[kind], sessionKinds[kind])
	}
	return r
}

// batchRemove is the most items that one request deletes.
const batchRemove = 25

// removeAll deletes items by their keys.
func (r rows) removeAll(ctx context.Context, table string, keys []item) error {
	for part := range slices.Chunk(keys, batchRemove) {
		var writes []types.WriteRequest
		for _, k := range part {
			writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k}})
		}
		for len(writes) > 0 {
			out, err := r.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
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
