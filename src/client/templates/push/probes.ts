import type { Variable } from './shape.ts'

/** Values to compare a component and its template with, beyond PreviewProps. */
export interface Probe {
  /** The variable that differs from PreviewProps; null for none or several. */
  key: string | null
  props: Record<string, unknown>
  /** The difference, for the reader: `is empty`. */
  words: string
  /** A value is missing: an error of the template is right. */
  isMissing: boolean
  /** A value may be empty: plain text has other blank lines then. */
  hasEmpty: boolean
  /** Only HTML and subject count: React Email shows links in plain text depending on their value, such as one with
   *  blanks or a `#`. */
  skipsText: boolean
}

/** Characters that escaping, encoding, Markdown and Liquid change. */
const ODD = ` <b>&"'*_é+%{{ x }}{% if %}`
const NUMBERS = [0, 1, 2, -3, 1_234_567.25]
const MAX_LITERALS = 40
const MAX_COMPARED = 400
const COMBINATIONS = 24

/** PreviewProps and the source of the component → probes, PreviewProps first. Texts and numbers in the source are values
 *  that the component may compare with. */
export function probesFor(sample: Record<string, unknown>, variables: readonly Variable[], source: string): Probe[] {
  const literals = literalsIn(source, JSON.stringify(sample))
  const probes: Probe[] = [
    { key: null, props: sample, words: 'with PreviewProps', isMissing: false, hasEmpty: false, skipsText: false },
  ]
  const add = ({ key }: Variable, value: unknown, words: string, isLiteral = false) =>
    probes.push({
      key,
      props: withValue(sample, key, value),
      words,
      isMissing: value === MISSING,
      hasEmpty: value === '' || value === MISSING,
      skipsText: value === blanked || isLiteral,
    })
  for (const variable of variables) {
    for (const [value, words] of valuesOf(variable, sample)) add(variable, value, words)
  }
  for (const variable of variables) if (!variable.key.endsWith('*')) add(variable, MISSING, 'when it is missing')
  const compared = variables.flatMap((variable) => {
    const values = variable.kind === 'number' ? literals.numbers : variable.kind === 'string' ? literals.texts : []
    return values.map((value: string | number) => ({ variable, value }))
  })
  for (const { variable, value } of compared.slice(0, MAX_COMPARED)) {
    add(variable, value, `when it is ${JSON.stringify(value)}`, true)
  }
  return [...probes, ...combinations(sample, variables)]
}

/** A value without blanks, such as a URL, keeps having none. */
const odd = (before: unknown) => `${before}${/\s/.test(String(before)) ? ODD : ODD.replace(/ /g, '')}`
const blanked = (before: unknown) => `${before}${ODD}`

/** Marks a value that is left out. */
const MISSING = Symbol('missing')

function valuesOf({ key, kind }: Variable, sample: unknown): [value: unknown, words: string][] {
  if (kind === 'boolean') return [true, false].map((value) => [value, `when it is ${value}`])
  if (kind === 'number') return NUMBERS.map((value) => [value, `when it is ${value}`])
  if (kind === 'string') {
    return [
      [odd, 'when it has special characters'],
      [blanked, 'when it has blanks and special characters'],
      ['', 'when it is empty'],
    ]
  }
  const items = valuesAt(sample, key).find((each) => Array.isArray(each) && each.length > 0) as unknown[] | undefined
  if (items === undefined) return []
  const many = Array.from({ length: Math.max(4, items.length + 2) }, (_, at) => items[at % items.length])
  return [0, 1, 2, many.length].map((size) => [many.slice(0, size), `with ${size} ${size === 1 ? 'item' : 'items'}`])
}

/** Pseudorandom values of all switches at once; the same for the same component. */
function combinations(sample: Record<string, unknown>, variables: readonly Variable[]): Probe[] {
  let seed = 20261126
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const open = variables.filter(({ kind }) => kind !== 'number')
  if (open.length < 2) return []
  return Array.from({ length: COMBINATIONS }, () => {
    let props = sample
    for (const variable of open) {
      const values = valuesOf(variable, sample).filter(([value]) => value !== blanked)
      const [value] = values[random(values.length)] ?? []
      if (value !== undefined && random(2) === 0) props = withValue(props, variable.key, value)
    }
    return {
      key: null,
      props,
      words: 'with several of its props changed',
      isMissing: false,
      hasEmpty: true,
      skipsText: false,
    }
  })
}

/** Copy of the props with another value at a key, in all items. A function gets the value before. */
export function withValue(props: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const copy = structuredClone(props)
  change(copy, key.split('.'), value)
  return copy
}

function change(at: unknown, [name, ...rest]: string[], value: unknown): void {
  if (typeof at !== 'object' || at === null || name === undefined) return
  const keys = name === '*' ? Object.keys(at) : [name]
  const record = at as Record<string, unknown>
  for (const key of keys) {
    if (rest.length > 0) change(record[key], rest, value)
    else if (value === MISSING) delete record[key]
    else record[key] = typeof value === 'function' ? value(record[key] ?? '') : structuredClone(value)
  }
}

function valuesAt(at: unknown, key: string): unknown[] {
  let found = [at]
  for (const name of key.split('.')) {
    found = found.flatMap((each) => {
      if (typeof each !== 'object' || each === null) return []
      return name === '*' ? Object.values(each) : [(each as Record<string, unknown>)[name]]
    })
  }
  return found
}

/** Source → its short texts and its numbers. Imports, attributes and values in PreviewProps are not compared with. */
function literalsIn(source: string, sample: string): { texts: string[]; numbers: number[] } {
  const code = source.slice(0, 200_000).replace(/\b(?:from|import)\s*(['"])[^'"\n]*\1|[\w-]=(['"])[^'"\n]*\2/g, '')
  const texts = [...code.matchAll(/(['"`])([^'"`\n\\${}<>]{1,30})\1/g)]
    .map(([, , text]) => text!)
    .filter((text) => !sample.includes(`"${text}"`))
  const numbers = [...code.matchAll(/[<>=!]=?=?\s*(-?\d{1,9}(?:\.\d{1,4})?)\b/g)].map(([, digits]) => Number(digits))
  return {
    texts: [...new Set(texts)].slice(0, MAX_LITERALS),
    numbers: [...new Set(numbers.flatMap((each) => [each - 1, each, each + 1]))].slice(0, MAX_LITERALS),
  }
}
