package browser

import (
	"encoding/json"

	"github.com/chromedp/chromedp"
)

// MoveMouse moves the mouse to a point of the viewport.
func (d *Document) MoveMouse(x, y float64) {
	d.t.Helper()
	d.Do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
}

// PressMouse presses and releases the left button at a point of the viewport, without a movement before. It is the
// count-th click of a row: 2 is the second one of a double click.
func (d *Document) PressMouse(x, y float64, count int) {
	d.t.Helper()
	d.Do(chromedp.MouseClickXY(x, y, chromedp.ClickCount(count)))
}

// Middle waits for the element that the CSS selector matches and returns the middle of it in the viewport.
func (d *Document) Middle(selector string) (x, y float64) {
	d.t.Helper()
	var at []float64
	d.until(selector, func() (found bool, err error) {
		at, err = d.middle(selector, "*")
		return at != nil, err
	})
	return at[0], at[1]
}

// middle scrolls the element that the CSS selector matches into view and returns its middle; nil
// while there is none, it is not rendered or does not match state as well.
func (d *Document) middle(selector, state string) ([]float64, error) {
	first, _ := json.Marshal(selector)
	second, _ := json.Marshal(state)
	return get(d, chromedp.Evaluate[[]float64](`(() => {
		const e = document.querySelector(`+string(first)+`);
		if (document.readyState === "loading" || !e?.checkVisibility() || !e.matches(`+string(second)+`)) return null;
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`))
}
