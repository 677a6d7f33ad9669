// Command quota lets a new deployment make ephemeral workspaces. It stores how many may be made in a minute, unless
// that is stored already. Until then every request for one is refused.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/limits"
)

func main() {
	table := flag.String("table", "", "`NAME` of table core, as the stack Data gives it out")
	perMinute := flag.Int("per-minute", limits.ProvisionQuota, "how `MANY` a new deployment makes in a minute")
	flag.Parse()
	if err := open(context.Background(), *table, *perMinute); err != nil {
		fmt.Fprintln(os.Stderr, "the provision quota cannot be set:", err)
		os.Exit(1)
	}
}

// open stores a quota in a table that has none. It takes account, region and endpoint from the environment, as the AWS
// command line does.
func open(ctx context.Context, table string, perMinute int) error {
	if table == "" {
		return errors.New("name the table with -table")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	store := dynamo.New(dynamodb.NewFromConfig(cfg), dynamo.Tables{Core: table})
	return store.Workspaces.InitQuota(ctx, ephemeral.Quota{PerMinute: perMinute}, time.Now())
}
