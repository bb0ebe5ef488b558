import { pathWords } from './words.ts'

/** The variables of a template, as PreviewProps show them. A key is a path with `*` for the items of a list:
 *  `lines.*.title`. */
export interface Variable {
  key: string
  kind: 'string' | 'number' | 'boolean' | 'list'
}

/** One value of each kind of PreviewProps; lists have one item with the fields of all. */
export type Node =
  | { kind: 'string' | 'number' | 'boolean' }
  | { kind: 'list'; item: Node }
  | { kind: 'object'; fields: Map<string, Node> }

/** A component that cannot become a template. The message says why and what to change. */
export class ConversionFault extends Error {
  override name = 'ConversionFault'
}

/** Which values the component gets: switched off are booleans that are false, strings that are empty and lists without
 *  items. Lists have one item unless `sizes` has another number. */
export interface State {
  off: ReadonlySet<string>
  sizes: ReadonlyMap<string, number>
  /** Key of a value that is missing. */
  absent?: string
}

/** PreviewProps → their shape. Throws ConversionFault for an empty list, items of different types, and a name that
 *  Liquid cannot use. */
export function shapeOf(value: unknown, key = ''): Node {
  if (typeof value === 'string') return { kind: 'string' }
  if (typeof value === 'number') return { kind: 'number' }
  if (typeof value === 'boolean') return { kind: 'boolean' }
  if (Array.isArray(value)) {
    const items = value.map((each) => shapeOf(each, `${key}.*`))
    if (items.length === 0) throw new ConversionFault(`PreviewProps.${pathWords(key)} is empty. Give it an item.`)
    return { kind: 'list', item: items.reduce((one, other) => merged(one, other, key)) }
  }
  const fields = new Map<string, Node>()
  for (const [name, each] of Object.entries(value as object)) {
    const inner = key === '' ? name : `${key}.${name}`
    if (!NAME.test(name) || (key === '' && RESERVED.has(name))) {
      throw new ConversionFault(`${pathWords(inner)} is not a name that templates can use. Rename it.`)
    }
    fields.set(name, shapeOf(each, inner))
  }
  return { kind: 'object', fields }
}

const NAME = /^[A-Za-z_]\w{0,99}$/
/** Words of Liquid. `size`, `first` and `last` have a meaning only behind a dot, where own fields come first. */
const RESERVED = new Set([
  'true',
  'false',
  'nil',
  'null',
  'empty',
  'blank',
  'forloop',
  'and',
  'or',
  'not',
  'contains',
  'in',
])

function merged(one: Node, other: Node, key: string): Node {
  if (one.kind === 'list' && other.kind === 'list') {
    return { kind: 'list', item: merged(one.item, other.item, `${key}.*`) }
  }
  if (one.kind === 'object' && other.kind === 'object') {
    const fields = new Map(one.fields)
    for (const [name, node] of other.fields) {
      const before = fields.get(name)
      fields.set(name, before === undefined ? node : merged(before, node, `${key}.*.${name}`))
    }
    return { kind: 'object', fields }
  }
  if (one.kind === other.kind) return one
  throw new ConversionFault(`The items of PreviewProps.${pathWords(key)} have different types.`)
}

/** Shape → its variables, lists before their items. */
export function variablesOf(node: Node, key = ''): Variable[] {
  if (node.kind === 'object') {
    return [...node.fields].flatMap(([name, each]) => variablesOf(each, key === '' ? name : `${key}.${name}`))
  }
  const inner = node.kind === 'list' ? variablesOf(node.item, `${key}.*`) : []
  return [{ key, kind: node.kind }, ...inner]
}

/** Shape and state → props. `value` gives the strings and numbers, by key and the indices of the lists around. */
export function propsOf(
  node: Node,
  state: State,
  value: (key: string, indices: number[]) => string | number,
  key = '',
  indices: number[] = [],
): unknown {
  if (node.kind === 'object') {
    const entries = [...node.fields].flatMap(([name, each]) => {
      const inner = key === '' ? name : `${key}.${name}`
      return inner === state.absent ? [] : [[name, propsOf(each, state, value, inner, indices)]]
    })
    return Object.fromEntries(entries)
  }
  const isOff = state.off.has(key)
  if (node.kind === 'boolean') return !isOff
  if (node.kind === 'list') {
    const size = isOff ? 0 : (state.sizes.get(key) ?? 1)
    return Array.from({ length: size }, (_, at) => propsOf(node.item, state, value, `${key}.*`, [...indices, at]))
  }
  return isOff && node.kind === 'string' ? '' : value(key, indices)
}

/** Key of a variable → keys of the lists around it, outermost first. */
export function listsAround(key: string): string[] {
  return [...key.matchAll(/\.\*/g)].map(({ index }) => key.slice(0, index))
}
