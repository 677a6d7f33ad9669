package cursor_test

import (
	"fmt"
	"time"

	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

var titles = []string{"Anchor", "Buoy", "Compass", "Dinghy", "Eddy"}

// titlesAfter stands in for a store. It returns up to limit rows after a position, and the position
// of the last row if more follow.
func titlesAfter(after string, limit int) (rows []string, next string, err error) {
	for _, title := range titles {
		if title <= after {
			continue
		}
		if len(rows) == limit {
			return rows, rows[limit-1], nil
		}
		rows = append(rows, title)
	}
	return rows, "", nil
}

func ExampleRead() {
	codec, err := cursor.New(keyring.New().Seal)
	if err != nil {
		fmt.Println(err)
		return
	}
	list := cursor.List{Workspace: id.NewWorkspace(), Name: "titles", Now: time.Now()}
	page := cursor.Page{Limit: 2}
	for more := true; more; {
		rows, next, err := cursor.Read(codec, list, page, titlesAfter)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rows, next != "")
		if more = next != ""; more {
			page.Cursor = next
		}
	}
	// Output:
	// [Anchor Buoy] true
	// [Compass Dinghy] true
	// [Eddy] false
}
