package browser

import (
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Choose gives files, or a folder, to the file input that the CSS selector matches, as a person does in a dialog.
func (d *Document) Choose(selector string, paths ...string) {
	d.t.Helper()
	d.Do(chromedp.SetUploadFiles(chromedp.CSS(selector), paths))
}

// Drop drops files and folders at the middle of the element that the CSS selector matches.
func (d *Document) Drop(selector string, paths ...string) {
	d.t.Helper()
	x, y := d.Middle(selector)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, step := range []input.DispatchDragEventType{
		input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop,
	} {
		call(d, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: step,
			X:    x,
			Y:    y,
			Data: data,
		})
	}
}

// Upload limits how many bytes the page sends in a second, from now on. Zero takes the network away, and a negative
// number limits nothing.
func (p *Page) Upload(rate float64) {
	p.t.Helper()
	call(&p.Document, network.Enable, network.EnableParams{})
	call(&p.Document, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{
			DownloadThroughput: -1,
			UploadThroughput:   rate,
			Offline:            rate == 0,
		}},
	})
	call(&p.Document, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline:            rate == 0,
		DownloadThroughput: -1,
		UploadThroughput:   rate,
	})
}
