package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The indexes of table core. Table events has the first one too.
const (
	listIndex = "gsi1" // g1p, g1s: what belongs to a workspace or an artifact; whole items
	dueIndex  = "gsi2" // g2p, g2s: what falls due, and the links of an artifact; keys alone
)

// CreateTables creates missing tables as a deployment has them. It leaves existing ones as they are. The listIndex of
// older tables carries 20 attributes for lists, so a list that shows more must do without them there.
func CreateTables(ctx context.Context, client *dynamodb.Client, t Tables) error {
	for _, in := range Definitions(t) {
		_, err := client.CreateTable(ctx, in)
		var exists *types.ResourceInUseException
		if errors.As(err, &exists) {
			continue
		}
		if err != nil {
			return unavailable(err)
		}
		if _, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: in.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: aws.String("ttl"),
				Enabled:       aws.Bool(true),
			},
		}); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

// Definitions returns the keys and indexes that the tables of a deployment have: core, events, hot.
func Definitions(t Tables) []*dynamodb.CreateTableInput {
	return []*dynamodb.CreateTableInput{coreTable(t.Core), eventsTable(t.Events), table(t.Hot, "pk")}
}

func coreTable(name string) *dynamodb.CreateTableInput {
	in := table(name, "pk", "sk")
	in.AttributeDefinitions = append(in.AttributeDefinitions, texts("g1p", "g1s", "g2p", "g2s")...)
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{
		index(listIndex, types.ProjectionTypeAll, "g1p", "g1s"),
		index(dueIndex, types.ProjectionTypeKeysOnly, "g2p", "g2s"),
	}
	return in
}

// eventsTable returns a table whose index carries whole events, because operators read the events of all workspaces.
func eventsTable(name string) *dynamodb.CreateTableInput {
	in := table(name, "pk", "sk")
	in.AttributeDefinitions = append(in.AttributeDefinitions, texts("g1p", "g1s")...)
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{
		index(listIndex, types.ProjectionTypeAll, "g1p", "g1s"),
	}
	return in
}

func index(name string, carries types.ProjectionType, keys ...string) types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName: &name, KeySchema: schema(keys...), Projection: &types.Projection{ProjectionType: carries},
	}
}

func table(name string, keys ...string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: texts(keys...),
		KeySchema:            schema(keys...),
	}
}

func texts(names ...string) (out []types.AttributeDefinition) {
	for _, n := range names {
		out = append(out, types.AttributeDefinition{AttributeName: aws.String(n), AttributeType: types.ScalarAttributeTypeS})
	}
	return out
}

func schema(names ...string) (out []types.KeySchemaElement) {
	kinds := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}
	for n, name := range names {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kinds[n]})
	}
	return out
}
