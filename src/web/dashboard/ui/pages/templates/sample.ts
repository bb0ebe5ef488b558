import type { TextFault } from './faults.ts'

/** The sample of a template as the text of a JSON object. */

/** Text → the sample, or what is wrong with it. An empty text is an empty sample. */
export function readSample(text: string): { sample: Record<string, unknown> } | { fault: TextFault } {
  if (text.trim() === '') return { sample: {} }
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { sample: { ...read } }
    return { fault: { line: 1, column: 1, message: 'Write a JSON object, such as {"name": "Ann"}.' } }
  } catch (thrown) {
    return { fault: faultOf(String((thrown as SyntaxError).message), text) }
  }
}

/** Browsers give the position as an offset, or as line and column, or not at all. */
function faultOf(message: string, text: string): TextFault {
  const [, at] = /at position (\d+)/.exec(message) ?? []
  const [, line, column] = /line (\d+),? column (\d+)/.exec(message) ?? []
  const invalid = 'This is not valid JSON.'
  if (line !== undefined) return { line: Number(line), column: Number(column), message: invalid }
  const isAtEnd = /end of (?:JSON|data|input)/i.test(message)
  if (at === undefined && !isAtEnd) return { line: null, column: null, message: invalid }
  const before = text.slice(0, at === undefined ? text.length : Number(at)).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1, message: invalid }
}

/** Sample → the sample as text, indented; '' for an empty one. */
export function sampleText(sample: Record<string, unknown>): string {
  return Object.keys(sample).length === 0 ? '' : JSON.stringify(sample, null, 2)
}

/** Adds a value for each name that the sample lacks: `user.name` gets the text `name`, a variable that one of the texts
 *  loops over an empty list. Present values stay. */
export function withMissing(
  sample: Record<string, unknown>,
  names: readonly string[],
  texts: readonly string[],
): Record<string, unknown> {
  const made = structuredClone(sample)
  for (const name of names) {
    put(made, partsOf(name), isLooped(name, texts) ? [] : partsOf(name).at(-1))
  }
  return made
}

/** True if one of the texts loops over the variable: `{% for item in items %}`. */
export const isLooped = (name: string, texts: readonly string[]) => texts.some((text) => text.includes(` in ${name} `))

/** True if the sample has no value for a name such as `user.name`. */
export function lacks(sample: Record<string, unknown>, name: string): boolean {
  let at: unknown = sample
  for (const part of partsOf(name)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return true
    at = Reflect.get(at, part)
  }
  return false
}

/** Name → path: `a.b[0]["c d"]` becomes `a`, `b`, `0`, `c d`. */
const partsOf = (name: string) => name.match(/[^.[\]"']+/g) ?? []

function put(into: object, path: readonly string[], value: unknown): void {
  const [part, ...rest] = path
  if (part === undefined || part === '__proto__') return
  const [next] = rest
  const known: unknown = Object.hasOwn(into, part) ? Reflect.get(into, part) : undefined
  if (next === undefined) {
    if (known === undefined) Reflect.set(into, part, value)
    return
  }
  const made = known ?? (/^\d+$/.test(next) ? [] : {})
  if (typeof made !== 'object') return
  Reflect.set(into, part, made)
  put(made, rest, value)
}
