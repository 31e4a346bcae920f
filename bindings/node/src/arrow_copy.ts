// Which copy of apache-arrow tables are made with. A program that imports it has the ES modules and
// one that requires it the CommonJS ones, and functions of one copy choke on objects of the other:
// so a program that imports this package (esm/index.mjs) is given tables of the copy that it has.
import * as required from 'apache-arrow';

export let lib: typeof required = required;

export function useArrow(copy: typeof required): void {
  lib = copy;
}
