/** The schema as a tree of dotted paths. Pure. */
import { type Key, type OpenSection, type Section, table } from './schema.ts'

export type Node = Key | Section | OpenSection

export const root: Section = { about: '', keys: table }

export const isSection = (node: Node): node is Section => 'keys' in node

/** The key or section with this name, or undefined. An open section has an entry for every name. */
export function childOf(section: Section | OpenSection, name: string): Node | undefined {
  if (Object.hasOwn(section.keys, name)) return section.keys[name]
  return 'other' in section ? section.other : undefined
}

/** A name as a step of a path; escapes the dots in the name of a destination. */
export const toStep = (name: string) => name.replaceAll('.', DOT)
export const fromStep = (step: string) => step.replaceAll(DOT, '.')
const DOT = '\u2024'

/** Every key by its path, in the order of the table; `others` are paths in open sections, like `plans.gold`. */
export function keysByPath(others: Iterable<string> = []): Map<string, Key> {
  const keys = new Map<string, Key>()
  const visit = (section: Section | OpenSection, path: string[]) => {
    const prefix = path.map((name) => `${name}.`).join('')
    const more = [...others].filter((other) => 'other' in section && other.startsWith(prefix))
    const names = [...Object.keys(section.keys), ...more.map((other) => other.slice(prefix.length))]
    for (const name of new Set(names)) {
      const node = childOf(section, name)
      if (node && isSection(node)) visit(node, [...path, name])
      else if (node) keys.set(prefix + name, node)
    }
  }
  visit(root, [])
  return keys
}

/** `http.public_url` → `POSTRIDER_HTTP_PUBLIC_URL`. */
export function environmentName(path: string): string {
  return `POSTRIDER_${path.replaceAll(/[.-]/g, '_').toUpperCase()}`
}

/** `retry_schedule_seconds` → `retryScheduleSeconds`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Section → its own keys, or those that the entries of an open section have in common unless there are named entries; and
 *  the sections below it. */
export function listedIn(section: Section | OpenSection): { keys: [string, Key][]; sections: [string, Section][] } {
  const nodes = Object.entries<Node>(section.keys)
  const isKey = (each: [string, Node]): each is [string, Key] => !isSection(each[1])
  const sections = nodes.filter((each): each is [string, Section] => isSection(each[1]))
  const open = 'other' in section ? Object.entries<Node>(section.other.keys).filter(isKey) : []
  return { keys: open.length > 0 && sections.length === 0 ? open : nodes.filter(isKey), sections }
}
