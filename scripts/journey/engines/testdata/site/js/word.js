export const word = "flood";
