/** Renders the schema as a commented config file. */
import { isSection, root } from './paths.ts'
import type { ConfigValues, Key, OpenSection, Section } from './schema.ts'

/** Renders a config file with every key, its comment and its default. Given values are active; all others are commented
 *  out, so that a default that changes in a later version takes effect. Without values the result is config.example.toml.
 *  Sections beside the known plans are not written. */
export function renderExample(values: ConfigValues = {}): string {
  const blocks = [HEAD]
  const described = new Set<string>()
  const visit = (section: Section | OpenSection, chosen: Record<string, unknown>, path: string[]) => {
    const nodes = Object.entries(section.keys)
    const keys = nodes.filter((entry): entry is [string, Key] => !isSection(entry[1]))
    const entries = keys.map(([name, key]) => entryOf(name, key, chosen[name], described))
    const title = [...comment(section.about), ...(path.length > 0 && keys.length > 0 ? [`[${path.join('.')}]`] : [])]
    blocks.push([...title, entries.join('\n')].join('\n').trim())
    for (const [name, node] of nodes) {
      if (isSection(node)) visit(node, (chosen[name] ?? {}) as Record<string, unknown>, [...path, name])
    }
  }
  visit(root, values, [])
  return `${blocks.join('\n\n')}\n`
}

const HEAD = `# Postrider configuration. A "#" directly before a key marks its default. Names of times and sizes end with their unit.
# Environment variables override this file: POSTRIDER_HTTP_LISTEN, POSTRIDER_DELIVERY_MAX_IN_FLIGHT, …; separate the
# entries of a list with commas. \`postrider config check\` reports all errors at once.`

/** The comment of a key and its line, with the unit after the value. Identical comments appear only once. */
function entryOf(name: string, key: Key, chosen: unknown, described: Set<string>): string {
  const secret = key.isSecret ? ` Secret: to read it from a file, set ${name}_file = "…".` : ''
  const words = described.has(key.about) ? [] : comment(key.about + secret)
  described.add(key.about)
  const isActive = chosen !== undefined || key.fallback === undefined
  const value = toml(chosen ?? key.fallback ?? key.example)
  return [...words, `${isActive ? '' : '#'}${name} = ${value}${key.unit ? `  # ${key.unit}` : ''}`].join('\n')
}

/** Wraps text into comment lines of at most 110 characters. */
function comment(about: string): string[] {
  const lines: string[] = []
  for (const word of about.split(/\s+/).filter((word) => word !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= 110) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`# ${word}`)
  }
  return lines
}

/** Formats a string, number, boolean or list as TOML. JSON strings are valid TOML strings, except for DEL. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f')
}
