package chaos_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/adapter/chaos"
)

func Example() {
	var t *testing.T
	var config aws.Config

	faults := chaos.For(t)
	config.APIOptions = append(config.APIOptions, faults.Add)
	client := dynamodb.NewFromConfig(config)

	// The first attempt is refused; the SDK makes another.
	faults.On("TransactWriteItems").Before(chaos.Throttle)
	// The second one commits, but its answer is lost.
	faults.On("TransactWriteItems").Nth(2).After(chaos.Timeout)
	// Every counter fails, to the last attempt.
	faults.On("UpdateItem").If(chaos.Table("hot")).Always().Before(chaos.Throttle)
	// The process dies when its first write is done.
	faults.On("PutItem").After(chaos.Crash)
	// Another operation happens while a read is under way.
	release := make(chan struct{})
	held := faults.On("GetItem").If(chaos.Key("PK", "A#")).Before(chaos.Hold(release))
	go client.GetItem(t.Context(), &dynamodb.GetItemInput{})
	<-held.Reached()
	close(release)
}
