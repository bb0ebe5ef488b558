import { useState } from 'preact/hooks'

/** Sample variables: typed text by name (`user.name`) → the variables for rendering. */

/** The sample values of a template, stored for this browser tab: `[typed, type]`. '' is the new template. */
export function useSample(templateId: string): [Record<string, string>, (name: string, text: string) => void] {
  const [typed, setTyped] = useState(() => readSample(templateId))
  const type = (name: string, text: string) => {
    const now = { ...typed, [name]: text }
    setTyped(now)
    keepSample(templateId, now)
  }
  return [typed, type]
}

export function keepSample(templateId: string, typed: Record<string, string>): void {
  try {
    window.sessionStorage.setItem(KEY + templateId, JSON.stringify(typed))
  } catch {
    // storage is disabled: values last as long as the page
  }
}

function readSample(templateId: string): Record<string, string> {
  try {
    return JSON.parse(window.sessionStorage.getItem(KEY + templateId) ?? '{}')
  } catch {
    return {}
  }
}

const KEY = 'postrider.sample.'

/** `{"user.name": "Ann", "items": "[1,2]"}` → `{user: {name: 'Ann'}, items: [1, 2]}`; omits empty values. Parses lists,
 *  objects, numbers, true, false and null as JSON. */
export function variablesOf(typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const all: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(typed)) if (text !== '') put(all, partsOf(name), meant(text))
  return all
}

/** `a.b[0]["c d"]` → `a`, `b`, `0`, `c d`. */
const partsOf = (name: string) => name.match(/[^.[\]"']+/g) ?? []

function put(all: object, path: readonly string[], value: unknown): void {
  const [part, ...rest] = path
  if (part === undefined || part === '__proto__') return
  const [next] = rest
  const known: unknown = Reflect.get(all, part)
  const isInner = typeof known === 'object' && known !== null
  const made = next === undefined ? value : isInner ? known : /^\d+$/.test(next) ? [] : {}
  Reflect.set(all, part, made)
  if (typeof made === 'object' && made !== null) put(made, rest, value)
}

function meant(text: string): unknown {
  if (!/^\s*(?:[[{]|-?\d|true\s*$|false\s*$|null\s*$)/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
