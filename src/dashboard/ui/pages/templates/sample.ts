import { useState } from 'preact/hooks'

/** Sample variables of a template: text by name (`user.name`). */

/** The sample values of a template and a function that changes one. The browser tab stores them. '' is the id
 *  of a new template. */
export function useSample(templateId: string): [Record<string, string>, (name: string, text: string) => void] {
  const [typed, setTyped] = useState(() => readSample(templateId))
  const type = (name: string, text: string) => {
    const now = { ...typed, [name]: text }
    setTyped(now)
    keepSample(templateId, now)
  }
  return [typed, type]
}

/** Stores the sample values of a template for this browser tab. Does nothing if storage is disabled. */
export function keepSample(templateId: string, typed: Record<string, string>): void {
  try {
    window.sessionStorage.setItem(KEY + templateId, JSON.stringify(typed))
  } catch {
    // storage is disabled: values end with the page
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

/** Sample values → variables for rendering: `{"user.name": "Ann", "items": "[1,2]"}` → `{user: {name: 'Ann'},
 *  items: [1, 2]}`. Omits empty values. Parses lists, objects, numbers, true, false and null as JSON; invalid
 *  JSON stays text. */
export function variablesOf(typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const all: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(typed)) if (text !== '') put(all, partsOf(name), meant(text))
  return all
}

/** Name → path: `a.b[0]["c d"]` → `a`, `b`, `0`, `c d`. */
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
