import { isRecord } from '../../../os/records.ts'

/** One variable, or one part of it, as far as the texts of a template and its sample show it. */
export class Shape {
  readonly parent: Shape | null
  readonly fields = new Map<string, Shape>()
  /** What the items of a list have in common; null if nothing shows that it is a list. */
  item: Shape | null = null
  /** True if a message cannot be without it where its parent is present. */
  isRequired = false
  readonly evidence = new Set<Evidence>()
  readonly #depth: number

  constructor(parent: Shape | null = null) {
    this.parent = parent
    this.#depth = parent === null ? 0 : parent.#depth + 1
  }

  /** The field of that name, which need not exist yet; null if it would be nested too deeply. */
  field(name: string): Shape | null {
    const known = this.fields.get(name)
    if (known !== undefined) return known
    const made = this.#inner()
    if (made !== null) this.fields.set(name, made)
    return made
  }

  /** What the items have in common, which makes this a list; null if it would be nested too deeply. */
  items(): Shape | null {
    this.item ??= this.#inner()
    return this.item
  }

  /** True for itself and everything inside. */
  contains(other: Shape | null): boolean {
    for (let at = other; at !== null; at = at.parent) if (at === this) return true
    return false
  }

  #inner(): Shape | null {
    if (this.#depth < MAX_DEPTH) return new Shape(this)
    this.evidence.add('any')
    return null
  }
}

/** What shows the type of a value: `text` is printed or compared with a text or number, `keys` has keys that other
 *  variables name, `any` may be anything. The others are values of the sample. */
export type Evidence = 'text' | 'keys' | 'any' | 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/** Levels of objects and lists. Deeper values have no type. */
const MAX_DEPTH = 20

/** Adds to a shape what a value of the sample shows. Names that only the sample has stay optional. */
export function addSample(shape: Shape, value: unknown): void {
  if (Array.isArray(value)) {
    shape.evidence.add('array')
    for (const each of value) {
      const item = shape.items()
      if (item !== null) addSample(item, each)
    }
  } else if (isRecord(value)) {
    shape.evidence.add('object')
    for (const [name, each] of Object.entries(value)) {
      const field = shape.field(name)
      if (field !== null) addSample(field, each)
    }
  } else if (value === null) shape.evidence.add('null')
  else if (typeof value === 'string') shape.evidence.add('string')
  else if (typeof value === 'number') shape.evidence.add('number')
  else if (typeof value === 'boolean') shape.evidence.add('boolean')
}

/** The type of a value, for the writers of each language. `text` is what a template prints: a text or a number. */
export type ValueType = { isNullable: boolean } & (
  | { kind: 'text' | 'boolean' | 'printable' | 'record' | 'unknown' }
  | { kind: 'list'; item: ValueType }
  | { kind: 'object'; fields: { name: string; type: ValueType; isRequired: boolean }[] }
)

/** Shape → type. Evidence that contradicts itself gives `unknown`, because a wrong type would refuse good calls. */
export function typeOf(shape: Shape): ValueType {
  const { evidence } = shape
  const isNullable = evidence.has('null')
  const plain = (kind: 'text' | 'boolean' | 'printable' | 'record' | 'unknown') => ({ kind, isNullable })
  const isSampleObject = evidence.has('object')
  if (evidence.has('any') && shape.fields.size === 0 && shape.item === null) return plain('unknown')
  if (evidence.has('keys')) return plain('record')
  if (shape.item !== null || evidence.has('array')) {
    // A loop over an object visits its keys and values.
    if (isSampleObject) return plain('record')
    if (evidence.has('string') || evidence.has('number')) return plain('unknown')
    return { kind: 'list', item: itemTypeOf(shape), isNullable }
  }
  // Lists and texts have a size too.
  const names = [...shape.fields].filter(([name]) => name !== 'size' || isSampleObject)
  if (names.length > 0 || isSampleObject) return { ...objectOf(names), isNullable }
  const isText = evidence.has('text') || evidence.has('string') || evidence.has('number')
  if (evidence.has('boolean')) return plain(isText ? 'printable' : 'boolean')
  return plain(isText ? 'text' : 'unknown')
}

function objectOf(fields: [name: string, shape: Shape][]) {
  return {
    kind: 'object' as const,
    fields: fields.map(([name, shape]) => ({ name, type: typeOf(shape), isRequired: shape.isRequired })),
  }
}

/** `lines.first.title` says about the items of `lines` what `line.title` says in a loop. */
function itemTypeOf(list: Shape): ValueType {
  const item = list.item ?? new Shape(list)
  for (const name of ['first', 'last']) {
    const end = list.fields.get(name)
    if (end !== undefined) absorb(item, end)
  }
  return typeOf(item)
}

function absorb(into: Shape, from: Shape): void {
  for (const each of from.evidence) into.evidence.add(each)
  for (const [name, shape] of from.fields) {
    const field = into.field(name)
    if (field === null) continue
    field.isRequired ||= shape.isRequired
    absorb(field, shape)
  }
  if (from.item !== null) {
    const item = into.items()
    if (item !== null) absorb(item, from.item)
  }
}
