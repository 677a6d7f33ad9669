// Package crash finds the calls at which the death of a process leaves something behind.
package crash

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/chaos"
)

// Point is a write to a store, after which a process dies.
type Point struct {
	operation string
	nth       int // of the operation; the first is 1
}

// Points returns the writes that are made while do runs. A process that dies at a read, or before a write, leaves what
// it left after the write before.
func Points(i *chaos.Injector, do func()) (all []Point) {
	made := map[string]int{}
	for _, c := range i.Record(do) {
		if !IsWrite(c.Input) {
			continue
		}
		made[c.Operation]++
		all = append(all, Point{c.Operation, made[c.Operation]})
	}
	return all
}

// Arm lets the process die after the write.
func (p Point) Arm(i *chaos.Injector) { i.On(p.operation).Nth(p.nth).After(chaos.Crash) }

// String names the write in the name of a test.
func (p Point) String() string { return fmt.Sprintf("%s %d", p.operation, p.nth) }

// IsWrite reports whether an AWS call changes something.
func IsWrite(input any) bool {
	switch input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput,
		*s3.GetObjectInput, *s3.HeadObjectInput, *s3.ListObjectsV2Input:
		return false
	}
	return true
}
