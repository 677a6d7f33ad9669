package client

import (
	"fmt"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

// TestAListThatCannotGoOnIsRefused reads the page after the cursor c.
func TestAListThatCannotGoOnIsRefused(t *testing.T) {
	const row = `{"id":"art_00000000000000000000000002"}`
	for page, ok := range map[string]bool{
		`{"data":[%s],"page_info":{"has_more":true,"next_cursor":"d"}}`:   true,
		`{"data":[%s],"page_info":{"has_more":false,"next_cursor":null}}`: true,
		`{"data":[%s],"page_info":{"has_more":true,"next_cursor":null}}`:  false,
		`{"data":[%s],"page_info":{"has_more":true,"next_cursor":""}}`:    false,
		`{"data":[%s],"page_info":{"has_more":true,"next_cursor":"c"}}`:   false,
		`{"data":[%.0s],"page_info":{"has_more":true,"next_cursor":"d"}}`: false,
	} {
		body := fmt.Sprintf(page, row)
		_, err := account(&wire{respond: in(reply(200, body))}).List(t.Context(), "c", 10)
		if ok && err != nil {
			t.Errorf("List of %s = %v, want no error", body, err)
		}
		if !ok {
			wantFailure(t, err, failure.BadResponse, failure.Other)
		}
	}
}
