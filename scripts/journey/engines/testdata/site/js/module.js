import { word } from "./word.js";

window.word = word;
