// Frames what the page of a member's artifact names. Without it the page does the same, but for the height of the frame.

import { contentURL, frame, part } from "./exhibit.js";

const { source, title } = part("case")?.dataset ?? {};
if (source) frame(contentURL(source), title);
