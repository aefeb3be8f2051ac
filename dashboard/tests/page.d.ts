// For the type checker: elements that the page finds by ID, by selector or as the target of an event are what its markup says.

interface EventTarget {
  value: any;
  validity: any;
  select: any;
}

interface Element {
  hidden: any;
  dataset: any;
  focus(options?: FocusOptions): void;
}

interface HTMLElement {
  disabled: any;
  max: any;
  open: any;
}
