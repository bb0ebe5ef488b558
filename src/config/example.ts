/** The schema → a config file for people. */
import { isSection, root } from './paths.ts'
import type { ConfigValues, Key, OpenSection, Section } from './schema.ts'

/** Chosen values → the text of a config file with every key, its comment and its default. Chosen keys stand as
 *  values; all others are commented out, so that a default which improves with a later version takes effect.
 *  Without values the result is config.example.toml. Sections beside the known plans are not written. */
export function renderExample(values: ConfigValues = {}): string {
  const blocks = [HEAD]
  const told = new Set<string>()
  const visit = (section: Section | OpenSection, chosen: Record<string, unknown>, path: string[]) => {
    const nodes = Object.entries(section.keys)
    const keys = nodes.filter((entry): entry is [string, Key] => !isSection(entry[1]))
    const entries = keys.map(([name, key]) => entryOf(name, key, chosen[name], told))
    const title = [...comment(section.about), ...(path.length > 0 && keys.length > 0 ? [`[${path.join('.')}]`] : [])]
    blocks.push([...title, entries.join('\n')].join('\n').trim())
    for (const [name, node] of nodes) {
      if (isSection(node)) visit(node, (chosen[name] ?? {}) as Record<string, unknown>, [...path, name])
    }
  }
  visit(root, values, [])
  return `${blocks.join('\n\n')}\n`
}

const HEAD = `# Postrider configuration: every key, with its default behind a "#" that touches the name. Times and sizes carry
# their unit in the name. Any key can also come from the environment, which wins over this file:
# POSTRIDER_HTTP_LISTEN, POSTRIDER_DELIVERY_MAX_IN_FLIGHT, …; lists with commas.
# \`postrider config check\` tells everything that is wrong at once.`

/** A key → its comment (each said once: `told` remembers) and its line, the unit behind the value. */
function entryOf(name: string, key: Key, chosen: unknown, told: Set<string>): string {
  const secret = key.isSecret ? ` A secret: ${name}_file = "…" reads it from a file instead.` : ''
  const words = told.has(key.about) ? [] : comment(key.about + secret)
  told.add(key.about)
  const isActive = chosen !== undefined || key.fallback === undefined
  const value = toml(chosen ?? key.fallback ?? key.example)
  return [...words, `${isActive ? '' : '#'}${name} = ${value}${key.unit ? `  # ${key.unit}` : ''}`].join('\n')
}

/** Words → comment lines of at most 110 characters. */
function comment(about: string): string[] {
  const lines: string[] = []
  for (const word of about.split(/\s+/).filter((word) => word !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= 110) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`# ${word}`)
  }
  return lines
}

/** A string, number, boolean or list of those → TOML. JSON strings are TOML basic strings, but for DEL. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f')
}
