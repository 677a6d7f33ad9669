package main

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// deployed makes the tables of a deployment and points the environment at their engine.
func deployed(t *testing.T) (dynamo.Stores, dynamo.Tables) {
	e := engine.Shared(t)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": e.DynamoDB,
		"AWS_REGION":                e.Region,
		"AWS_ACCESS_KEY_ID":         e.AccessKey,
		"AWS_SECRET_ACCESS_KEY":     e.SecretKey,
	} {
		t.Setenv(name, value)
	}
	client := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(e.DynamoDB) })
	tables := dynamo.Named("quota-" + string(id.NewPublic()))
	if err := dynamo.CreateTables(t.Context(), client, tables); err != nil {
		t.Fatal(err)
	}
	return dynamo.New(client, tables), tables
}

func TestOpenSetsTheQuotaOfANewDeployment(t *testing.T) {
	store, tables := deployed(t)
	if err := open(t.Context(), tables.Core, 17); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Workspaces.Quota(t.Context()); err != nil || got.PerMinute != limits.ProvisionQuota {
		t.Errorf("the quota is %+v, %v; want %d a minute", got, err, limits.ProvisionQuota)
	}
}

func TestOpenLeavesAQuotaThatIsSet(t *testing.T) {
	store, tables := deployed(t)
	if err := store.Workspaces.SetQuota(t.Context(), ephemeral.Quota{PerMinute: 3}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := open(t.Context(), tables.Core, 17); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Workspaces.Quota(t.Context()); err != nil || got.PerMinute != 3 {
		t.Errorf("the quota is %+v, %v; want the 3 that were set", got, err)
	}
}

func TestOpenNeedsATable(t *testing.T) {
	if err := open(t.Context(), "", 17); err == nil {
		t.Error("no table was enough")
	}
}
